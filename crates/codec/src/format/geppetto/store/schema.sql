CREATE TABLE turns (
    conv_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    turn_created_at_ms INTEGER NOT NULL,
    turn_metadata_json TEXT NOT NULL DEFAULT '{}',
    turn_data_json TEXT NOT NULL DEFAULT '{}',
    runtime_key TEXT NOT NULL DEFAULT '',
    inference_id TEXT NOT NULL DEFAULT '',
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (conv_id, session_id, turn_id)
);
CREATE TABLE blocks (
    block_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    hash_algorithm TEXT NOT NULL DEFAULT 'sha256-canonical-json-v1',
    kind TEXT NOT NULL,
    role TEXT NOT NULL DEFAULT '',
    payload_json TEXT NOT NULL DEFAULT '{}',
    block_metadata_json TEXT NOT NULL DEFAULT '{}',
    first_seen_at_ms INTEGER NOT NULL,
    PRIMARY KEY (block_id, content_hash)
);
CREATE TABLE turn_block_membership (
    conv_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    phase TEXT NOT NULL,
    snapshot_created_at_ms INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    block_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    PRIMARY KEY (conv_id, session_id, turn_id, phase, snapshot_created_at_ms, ordinal),
    FOREIGN KEY (conv_id, session_id, turn_id) REFERENCES turns(conv_id, session_id, turn_id) ON DELETE CASCADE,
    FOREIGN KEY (block_id, content_hash) REFERENCES blocks(block_id, content_hash)
);
CREATE INDEX turns_by_conv_session ON turns(conv_id, session_id, updated_at_ms DESC);
CREATE INDEX turns_by_session ON turns(session_id, updated_at_ms DESC);
CREATE INDEX turns_by_conv_runtime_updated ON turns(conv_id, runtime_key, updated_at_ms DESC);
CREATE INDEX turns_by_conv_inference_updated ON turns(conv_id, inference_id, updated_at_ms DESC);
CREATE INDEX blocks_by_kind_role ON blocks(kind, role);
CREATE INDEX turn_block_membership_by_turn_phase
    ON turn_block_membership(conv_id, session_id, turn_id, phase, snapshot_created_at_ms DESC, ordinal);
CREATE INDEX turn_block_membership_by_block ON turn_block_membership(block_id, content_hash);
