-- `seq` of the thread's latest checkpoint when the effect was appended, 0 before the first; NULL in rows of earlier
-- versions, of which nobody knows.
ALTER TABLE effects ADD COLUMN behind INTEGER;
