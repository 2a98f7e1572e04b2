-- When PostgreSQL first looks at the tables from which work and deliveries are claimed: not while they are tiny.
--
-- A table of which it knows nothing is planned as if it had ten pages, and nearly every row is looked up by an index. As soon as one
-- of fifty rows was analysed or vacuumed, reading all of it is the cheapest plan, and a connection keeps that plan for a prepared
-- statement or a trigger until the table is analysed again: up to a minute, in which a busy service adds tens of thousands of rows,
-- all of which each look-up then reads. From some thousand rows on the plans are those of a large table.
--
-- Rules that the database itself enforces here: none.
ALTER TABLE collections SET (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
ALTER TABLE payouts SET (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
ALTER TABLE reversals SET (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
ALTER TABLE events SET (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
ALTER TABLE deliveries SET (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
