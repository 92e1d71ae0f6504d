-- The state of an owner's limits, on its line for all time: that of its record, and
-- that of the guardrails that cover it. A hold says by which it goes; a change makes
-- them higher. Programs of an earlier version neither compare nor raise them.
ALTER TABLE lines ADD COLUMN IF NOT EXISTS version bigint NOT NULL DEFAULT 0;
ALTER TABLE lines ADD COLUMN IF NOT EXISTS guards bigint NOT NULL DEFAULT 0;
