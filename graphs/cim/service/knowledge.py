"""The knowledge base of a deal: facts that hold for a time, entities, relations, and four ways to search them.

Nothing is kept between two queries: each one reads the facts as they are. Only the standard library is used.
"""

import datetime
import hashlib
import json
import math
import re
from collections import Counter, deque

DIMENSIONS = 1024
STOP_WORDS = set(
    "a about all also an and any are as at be been but by can did do does for from had has have how i if in into is it "
    "its much of on or our that the their them there they this to us was we were what when which who why will with "
    "would you your".split()
)
SIGNED = re.compile(r"[^a-z0-9]+")


def words(text):
    """The words of a text, without endings that most words share and without words that say nothing."""
    found = []
    for word in SIGNED.split(text.lower()):
        if word and word not in STOP_WORDS:
            for ending in ("ing", "ies", "es", "s", "ed"):
                if word.endswith(ending) and len(word) > len(ending) + 2:
                    word = word[: -len(ending)]
                    break
            found.append(word)
    return found


def now():
    return datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0).isoformat().replace("+00:00", "Z")


class Knowledge:
    """Facts, relations and words of one meaning, as one JSON object holds them."""

    def __init__(self, base, changes=()):
        self.facts = [dict(fact) for fact in base["facts"]]
        self.relations = list(base.get("relations", []))
        # Each word of a group stands for the group, so that `earnings` finds `EBITDA`.
        self.meaning = {}
        for group in base.get("meanings", []):
            for word in group:
                for part in words(word):
                    self.meaning[part] = "=" + group[0]
        for change in changes:
            self.apply(change)

    def apply(self, change):
        """A correction puts an end to a fact; a new fact has nothing to replace."""
        for fact in self.facts:
            if fact["id"] == change.get("invalidates") and not fact.get("invalid_at"):
                fact["invalid_at"] = change["fact"]["valid_at"]
        if change["fact"]["id"] not in {fact["id"] for fact in self.facts}:
            self.facts.append(dict(change["fact"]))

    def holding(self):
        return [fact for fact in self.facts if not fact.get("invalid_at")]

    # Ways to search ------------------------------------------------------------------------------------------------

    def semantic(self, query, limit=10):
        """By meaning: the angle between the vectors of query and fact."""
        facts = self.holding()
        weight = self.rarity(facts)
        asked = self.vector(query, weight)
        scored = [(dot(asked, self.vector(fact["text"], weight)), fact) for fact in facts]
        return best(scored, limit, floor=0.05)

    def keyword(self, query, limit=10):
        """By words: BM25."""
        facts = self.holding()
        texts = [Counter(words(fact["text"] + " " + " ".join(fact.get("entities", [])))) for fact in facts]
        usual = sum(sum(text.values()) for text in texts) / max(len(texts), 1)
        scored = []
        for fact, text in zip(facts, texts):
            score = 0.0
            for word in set(words(query)):
                having = sum(1 for other in texts if word in other)
                if text[word]:
                    rare = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
                    score += rare * text[word] * 2.2 / (text[word] + 1.2 * (0.25 + 0.75 * sum(text.values()) / usual))
            scored.append((score, fact))
        return best(scored, limit, floor=1e-9)

    def hybrid(self, query, limit=10):
        """By meaning and by words at once, and along relations of the best of both. Ranks count, not scores."""
        lists = [self.semantic(query, 50), self.keyword(query, 50)]
        seeds = {entity for found in lists for fact in found[:2] for entity in fact["entities"]}
        lists.append([fact for entity in sorted(seeds) for fact in self.explore(entity, "related_to", 1)])
        ranks = Counter()
        facts = {}
        for weight, found in zip((1.0, 1.0, 0.3), lists):
            seen = set()
            for rank, fact in enumerate(fact for fact in found if not (fact["id"] in seen or seen.add(fact["id"]))):
                ranks[fact["id"]] += weight / (60 + rank)
                facts[fact["id"]] = fact
        top = max(ranks.values(), default=1.0)
        order = sorted(ranks, key=lambda fact_id: (-ranks[fact_id], fact_id))[:limit]
        return [dict(facts[fact_id], score=round(ranks[fact_id] / top, 4)) for fact_id in order]

    def explore(self, start, relationship, depth=2):
        """Along relations of one kind, from an entity or a fact on. `temporal` follows what replaced what."""
        begin = [name for name in self.names() if name.lower() == start.lower()]
        begin = begin or [name for name in self.names() if start.lower() in name.lower()][:1]
        reached = {name: 0 for name in begin}
        queue = deque(begin)
        while queue:
            name = queue.popleft()
            if reached[name] < depth:
                for other in self.neighbours(name, relationship):
                    if other not in reached:
                        reached[other] = reached[name] + 1
                        queue.append(other)
        found = []
        for fact in self.facts:
            near = [reached[name] for name in [fact["id"], *fact.get("entities", [])] if name in reached]
            if near and (relationship == "temporal" or not fact.get("invalid_at")):
                found.append((1.0 / (1 + min(near)), fact))
        if relationship == "temporal":
            found.sort(key=lambda pair: pair[1].get("valid_at", ""))
            return [finding(fact, score) for score, fact in found]
        return best(found, 50, floor=0.0)

    def research(self, question, steps=3):
        """Takes a question apart, looks each part up, follows what is found, and puts it together."""
        parts = [part.strip() for part in re.split(r"[?.;,]| and | versus | vs | or ", question) if words(part)]
        open_queries, made, findings, lines = parts or [question], [], {}, []
        while open_queries and len(made) < steps:
            query = open_queries.pop(0)
            made.append(query)
            found = [fact for fact in self.hybrid(query, 3) if fact["id"] not in findings]
            for fact in found:
                findings[fact["id"]] = fact
            if found:
                lines.append(query + ": " + " ".join(fact["text"] + " [" + fact["id"] + "]" for fact in found))
            asked = " ".join(made + open_queries).lower()
            for entity in (entity for fact in found for entity in fact["entities"]):
                if entity.lower() not in asked:
                    open_queries.append(entity)
                    asked += " " + entity.lower()
        return {"answer": "\n".join(lines), "steps": made, "findings": list(findings.values())}

    # Changes -------------------------------------------------------------------------------------------------------

    def correction(self, fact_id, statement, key=""):
        """The change that puts a statement in the place of a fact; none where there is no such fact."""
        old = next((fact for fact in self.facts if fact["id"] == fact_id), None)
        if old is None:
            return None
        name = hashlib.sha256((key or fact_id + "\n" + statement).encode()).hexdigest()[:8]
        fact = {
            "id": "c-" + name,
            "text": statement,
            "entities": old.get("entities", []),
            "source": "correction of " + fact_id,
            "valid_at": now(),
        }
        return {"invalidates": fact_id, "fact": fact}

    # Parts ---------------------------------------------------------------------------------------------------------

    def names(self):
        found = dict.fromkeys(fact["id"] for fact in self.facts)
        found.update(dict.fromkeys(entity for fact in self.facts for entity in fact.get("entities", [])))
        found.update(dict.fromkeys(end for relation in self.relations for end in (relation["from"], relation["to"])))
        return list(found)

    def neighbours(self, name, relationship):
        for relation in self.relations:
            if relation["type"] == relationship:
                if name in (relation["from"], relation["to"]):
                    yield relation["to"] if relation["from"] == name else relation["from"]
        if relationship in ("contradicts", "supports"):
            # Facts contradict and support each other; an entity stands for the facts about it.
            for fact in self.facts:
                if name in fact.get("entities", []):
                    yield fact["id"]

    def rarity(self, facts):
        counts = Counter(word for fact in facts for word in set(self.features(fact["text"])))
        return lambda feature: math.log(1 + len(facts) / (1 + counts[feature])) + 0.1

    def features(self, text):
        for word in words(text):
            yield word
            if word in self.meaning:
                yield self.meaning[word]
            for at in range(len(word) - 2):
                yield "~" + word[at : at + 3]

    def vector(self, text, weight):
        """A vector of length 1; each feature has a dimension and a sign by its hash."""
        vector = Counter()
        for feature in self.features(text):
            digest = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=4).digest(), "big")
            share = {"~": 0.2, "=": 1.5}.get(feature[0], 1.0)
            vector[digest % DIMENSIONS] += share * weight(feature) * (1 if digest >> 31 else -1)
        length = math.sqrt(sum(value * value for value in vector.values())) or 1.0
        return {at: value / length for at, value in vector.items()}


def dot(one, other):
    return sum(value * other.get(at, 0.0) for at, value in one.items())


def best(scored, limit, floor):
    top = max((score for score, _ in scored), default=1.0) or 1.0
    order = sorted((pair for pair in scored if pair[0] > floor), key=lambda pair: (-pair[0], pair[1]["id"]))
    return [finding(fact, score / top if top > 1 else score) for score, fact in order[:limit]]


def finding(fact, score):
    return {
        "id": fact["id"],
        "text": fact["text"],
        "entities": fact.get("entities", []),
        "source": fact["source"],
        "score": round(float(score), 4),
        "valid_at": fact.get("valid_at"),
        "invalid_at": fact.get("invalid_at"),
    }


def answer(knowledge, tool, args):
    """What a query gives. Its name is the tool's, its arguments are the tool's."""
    if tool == "search_knowledge":
        return knowledge.hybrid(args["query"], args.get("num_results", 10))
    if tool == "search_knowledge_semantic":
        return knowledge.semantic(args["query"], args.get("num_results", 10))
    if tool == "explore_knowledge_graph":
        return knowledge.explore(args["start_entity"], args["relationship"], args.get("depth", 2))
    if tool == "deep_research":
        return knowledge.research(args["question"], args.get("max_steps", 3))
    raise KeyError(tool)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)
