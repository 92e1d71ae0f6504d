-- What is spent and set aside on each line, in nano-dollars.
CREATE TABLE lines (
	id           INTEGER PRIMARY KEY,
	owner        TEXT NOT NULL,
	win          TEXT NOT NULL,
	spent_credit INTEGER NOT NULL DEFAULT 0,
	spent_total  INTEGER NOT NULL DEFAULT 0,
	held_credit  INTEGER NOT NULL DEFAULT 0,
	held_total   INTEGER NOT NULL DEFAULT 0,
	UNIQUE (owner, win)
) STRICT;

-- Holds, and for a day what became of them: state 0 is open, 1 voided, 2 posted
-- by expiry, 3 settled (credit and total are then the cost).
CREATE TABLE holds (
	seq      INTEGER PRIMARY KEY, -- the order in which they were made
	id       TEXT NOT NULL UNIQUE,
	state    INTEGER NOT NULL,
	lines    TEXT NOT NULL, -- ids, ascending, with commas
	credit   INTEGER NOT NULL,
	total    INTEGER NOT NULL,
	deadline INTEGER NOT NULL,
	event    TEXT
) STRICT;

CREATE INDEX holds_open ON holds (deadline) WHERE state = 0;
