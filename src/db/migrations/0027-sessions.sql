-- Sessions: an id by which people name them, from where each was opened, and when the person was last verified.
--
-- A session of before says none of this, so it ends: everybody logs in once more.
DELETE FROM sessions;

ALTER TABLE sessions
  -- The token names a session to nobody but its own browser. This names it to its person and to administrators.
  ADD COLUMN id text COLLATE "C" NOT NULL CHECK (id ~ '^ses_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  -- The last verification of any kind, by password or second factor. The log-in is the first one.
  ADD COLUMN verified_at timestamptz NOT NULL,
  ADD COLUMN address inet,
  ADD COLUMN user_agent text CHECK (length(user_agent) BETWEEN 1 AND 200),
  ADD CONSTRAINT sessions_named_once UNIQUE (id);
