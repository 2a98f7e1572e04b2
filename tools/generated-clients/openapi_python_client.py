"""Pays in, pays out and releases with the client that openapi-python-client generates, which is on PYTHONPATH."""

import importlib
import os
import pkgutil
import time
from datetime import datetime, timedelta, timezone
from uuid import UUID, uuid4

import malipo_client
from malipo_client import AuthenticatedClient, Client
from malipo_client.api.balance import get_balance
from malipo_client.api.collections import create_collection, get_collection, list_collections
from malipo_client.api.console_payouts import release_payout
from malipo_client.api.console_session import get_session, log_in
from malipo_client.api.payouts import create_payout, get_payout, list_payouts
from malipo_client.models import CollectionState, CreateCollection, CreatePayout, LogIn, ReleasePayoutMalipoConsole
from one_time_code import one_time_code

for module in pkgutil.walk_packages(malipo_client.__path__, "malipo_client."):
    importlib.import_module(module.name)

PATIENCE_SECONDS = 120
BASE_URL = os.environ["MALIPO_BASE_URL"]


def sent(response, status):
    assert response.status_code == status, (response.status_code, response.content)
    return response.parsed


def until(state, fetch):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := sent(fetch(), 200)).state != state:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    return found


server = AuthenticatedClient(base_url=BASE_URL, token=os.environ["MALIPO_API_KEY"])
body = CreateCollection(phone="256772000100", amount=5000, reference="INV-1")
collection = sent(create_collection.sync_detailed(client=server, body=body, idempotency_key=str(uuid4())), 202)
assert isinstance(collection.created_at, datetime) and isinstance(collection.operator_reference, UUID), collection
paid = until("succeeded", lambda: get_collection.sync_detailed(collection.id, client=server))
assert (paid.amount, paid.currency, paid.failure) == (5000, "UGX", None), paid

recent = (datetime.now(timezone.utc) - timedelta(hours=1)).isoformat()
listed = sent(list_collections.sync_detailed(client=server, created_from=recent, state=CollectionState.SUCCEEDED), 200)
assert collection.id in [item.id for item in listed.data], listed
balance = sent(get_balance.sync_detailed(client=server), 200)
assert balance.available >= 5000 and balance.currency == "UGX", balance

body = CreatePayout(phone="256772000200", amount=2000, reference="PAY-1")
payout = sent(create_payout.sync_detailed(client=server, body=body, idempotency_key=str(uuid4())), 202)
assert payout.approval_state == "pending", payout

console = Client(base_url=BASE_URL, headers={"Origin": BASE_URL})
body = LogIn(
    email=os.environ["MALIPO_APPROVER_EMAIL"],
    password=os.environ["MALIPO_APPROVER_PASSWORD"],
    totp=one_time_code(os.environ["MALIPO_APPROVER_TOTP_SECRET"]),
)
session = sent(log_in.sync_detailed(client=console, body=body), 201)
assert sent(get_session.sync_detailed(client=console), 200).person.id == session.person.id
marker = ReleasePayoutMalipoConsole.VALUE_0
call = release_payout.sync_detailed(payout.id, client=console, idempotency_key=str(uuid4()), malipo_console=marker)
assert sent(call, 200).approval_state == "approved"
ended = until("succeeded", lambda: get_payout.sync_detailed(payout.id, client=server))
assert [approval.user_id for approval in ended.approvals] == [session.person.id], ended
assert payout.id in [item.id for item in sent(list_payouts.sync_detailed(client=server), 200).data]

body = CreatePayout(phone="256772000200", amount=4_000_000, reference="PAY-2")
refused = sent(create_payout.sync_detailed(client=server, body=body, idempotency_key=str(uuid4())), 402)
assert refused.error.code == "balance_insufficient", refused
print("created, listed, fetched, paid out, read the balance, logged in, released")
