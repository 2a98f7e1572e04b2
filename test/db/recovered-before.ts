// Rows of before migration 0067: two people approved and proposed, and the account of one was recovered afterwards.
const [ZEROS, ONES] = ['0'.repeat(26), '0'.repeat(25) + '1'];

/** A person whose account was recovered an hour ago, and another one: both approved and proposed the day before. */
export const RECOVERED_BEFORE = `
  SET session_replication_role = replica;
  INSERT INTO merchants (id, name, currency, created_at) VALUES ('mer_${ZEROS}', 'Shop', 'UGX', now());
  INSERT INTO users (id, email, name, password_hash, created_at, recovered_at) VALUES
    ('usr_${ZEROS}', 'a@b.example', 'A', '$argon2id$', now(), now() - interval '1 hour'),
    ('usr_${ONES}', 'c@d.example', 'C', '$argon2id$', now(), NULL);
  INSERT INTO payouts (id, merchant_id, idempotency_key, amount_minor, currency, reference, phone, operator,
                       operator_reference, metadata, created_by, state, version, approvals_required, created_at, updated_at, expires_at)
    VALUES ('pay_${ZEROS}', 'mer_${ZEROS}', 'key', 100, 'UGX', 'r', '256772000100', 'mtn-momo',
            gen_random_uuid(), '{}', 'usr_${ONES}', 'queued', 0, 2, now(), now(), now() + interval '1 day');
  INSERT INTO payout_approvals (payout_id, user_id, merchant_id, approved_at, attestation)
    SELECT 'pay_${ZEROS}', id, 'mer_${ZEROS}', now() - interval '1 day', repeat('a', 43) FROM users;
  INSERT INTO policy_changes (id, merchant_id, state, changes, proposed_by, created_at, expires_at)
    SELECT replace(id, 'usr', 'pch'), 'mer_${ZEROS}', 'pending', '{}', id, now() - interval '1 day', now() + interval '1 day'
    FROM users;
`;
