-- No transaction notifies the dispatchers any more: PostgreSQL makes the commits of those that do wait for each other, across all
-- databases of the server. A process that recorded deliveries wakes them after its commit.
--
-- While a server of the version before still runs, its deliveries are found at the next tick of a dispatcher.
--
-- Rules that the database itself enforces here: none.
DROP TRIGGER deliveries_notify ON deliveries;
DROP FUNCTION notify_dispatchers();
