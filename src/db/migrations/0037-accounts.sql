-- Balances change by the posting of a transfer alone, also for whoever holds the application's account: posting runs as the owner of
-- the tables, and the account itself has no right to change a balance (`src/db/platform/access.ts`). The fixed path keeps a caller from
-- putting tables of its own in the place of these.
ALTER FUNCTION post_transfer() SECURITY DEFINER SET search_path = public, pg_temp;
