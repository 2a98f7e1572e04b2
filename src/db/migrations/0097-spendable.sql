-- What a merchant can still spend, in one call that locks the available account and then reads what the lock guards. A function,
-- because within one statement everything is read as it was before the statement waited for the lock: a refund or payout that was
-- recorded meanwhile would not count. Each statement of a volatile function sees what was committed before that statement.

-- What refunds will take that are requested and not paid yet: no payout and no other refund can use it.
CREATE FUNCTION reserved_by_refunds(merchant text) RETURNS bigint
  LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN (SELECT coalesce(sum(c.amount_minor), 0)
    FROM reversals r JOIN collections c ON c.id = r.collection_id
    WHERE r.merchant_id = merchant AND r.state IN ('queued', 'released', 'reconciling') AND c.state = 'succeeded');
END $$;

CREATE FUNCTION lock_spendable(
  merchant text, account text, api_key text,
  OUT spendable_minor bigint, OUT reserved_minor bigint, OUT queued_of_key_minor bigint
) LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS $$
BEGIN
  SELECT balance_minor INTO STRICT spendable_minor FROM ledger_accounts WHERE id = account FOR NO KEY UPDATE;
  reserved_minor := reserved_by_refunds(merchant);
  spendable_minor := spendable_minor - reserved_minor;
  IF api_key IS NOT NULL THEN
    SELECT coalesce(sum(p.amount_minor), 0) INTO STRICT queued_of_key_minor
      FROM payouts p WHERE p.merchant_id = merchant AND p.state = 'queued' AND p.api_key_id = api_key;
  END IF;
END $$;
