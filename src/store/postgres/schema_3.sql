-- Every result of a node that says `cache` has an end since. One that has none may be of a version of its flow that is gone.
DELETE FROM kept WHERE until IS NULL;
