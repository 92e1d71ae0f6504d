-- Presets by name. The last of their versions is in force.
CREATE TABLE presets (
	id                text COLLATE "C" PRIMARY KEY,
	account           text COLLATE "C" NOT NULL,
	workspace         text COLLATE "C" NOT NULL,
	slug              text COLLATE "C" NOT NULL,
	name              text COLLATE "C" NOT NULL,
	status            text COLLATE "C" NOT NULL,
	status_updated_at bigint NOT NULL,
	creator           text COLLATE "C" NOT NULL,
	created_at        bigint NOT NULL,
	updated_at        bigint NOT NULL,
	versions          bigint NOT NULL,
	UNIQUE (account, workspace, slug)
);

CREATE INDEX presets_by_update ON presets (account, workspace, updated_at, id);

-- They never change. Their numbers are 1, 2, 3, and so on.
CREATE TABLE preset_versions (
	preset        text COLLATE "C" NOT NULL,
	number        bigint NOT NULL,
	id            text COLLATE "C" NOT NULL,
	config        text COLLATE "C",
	system_prompt text COLLATE "C" NOT NULL,
	creator       text COLLATE "C" NOT NULL,
	created_at    bigint NOT NULL,
	PRIMARY KEY (preset, number)
);
