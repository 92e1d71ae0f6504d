-- API keys, without their text.
CREATE TABLE keys (
	hash          text COLLATE "C" PRIMARY KEY,
	label         text COLLATE "C" NOT NULL,
	name          text COLLATE "C" NOT NULL,
	account       text COLLATE "C" NOT NULL,
	workspace     text COLLATE "C" NOT NULL,
	creator       text COLLATE "C" NOT NULL,
	management    boolean NOT NULL,
	provisioned   boolean NOT NULL,
	disabled      boolean NOT NULL,
	max_nano      bigint,
	reset         bigint NOT NULL,
	include_byok  boolean NOT NULL,
	external_user text COLLATE "C" NOT NULL,
	external_hash text COLLATE "C" NOT NULL,
	expires_at    bigint NOT NULL,
	created_at    bigint NOT NULL,
	updated_at    bigint NOT NULL,
	version       bigint NOT NULL
);

CREATE INDEX keys_by_workspace ON keys (account, workspace, management, created_at DESC, hash);
CREATE INDEX keys_of_management ON keys (account, created_at DESC, hash) WHERE management;
CREATE INDEX keys_by_creator ON keys (account, creator);
