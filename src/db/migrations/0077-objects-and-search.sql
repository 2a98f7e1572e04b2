-- Indexes by which people find the events of an object, and entries of the audit log by subject, actor, action and time.

CREATE INDEX events_of_endpoint ON events (endpoint_id, id DESC) WHERE endpoint_id IS NOT NULL;
CREATE INDEX audit_entries_by_time ON audit_entries (merchant_id, created_at, id);
CREATE INDEX audit_entries_of_subject ON audit_entries (merchant_id, subject_id, created_at, id) WHERE subject_id IS NOT NULL;
CREATE INDEX audit_entries_of_person ON audit_entries (merchant_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_entries_of_api_key ON audit_entries (merchant_id, api_key_id, created_at, id) WHERE api_key_id IS NOT NULL;
CREATE INDEX audit_entries_of_action ON audit_entries (merchant_id, action, created_at, id);
