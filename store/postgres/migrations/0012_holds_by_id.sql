-- The oldest holds are found by their ids. An index of the order in which they were
-- made cost every call two entries: a hold is changed when it is closed.
ALTER TABLE holds DROP COLUMN IF EXISTS seq;
