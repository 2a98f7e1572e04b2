"""Pays in, pays out and releases with the client that openapi-generator generates for Python, which is on PYTHONPATH."""

import importlib
import os
import pkgutil
import time
from datetime import datetime, timedelta, timezone
from uuid import UUID, uuid4

import malipo_client as malipo
from one_time_code import one_time_code

# The generator writes no types for webhooks, which a client does not call, and nothing imports what it wrote.
for module in pkgutil.walk_packages(malipo.__path__, "malipo_client."):
    if module.name != "malipo_client.api.webhooks_api":
        importlib.import_module(module.name)

PATIENCE_SECONDS = 120
BASE_URL = os.environ["MALIPO_BASE_URL"]


def until(state, fetch):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := fetch()).state != state:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    return found


server = malipo.ApiClient(malipo.Configuration(host=BASE_URL, access_token=os.environ["MALIPO_API_KEY"]))
collections = malipo.CollectionsApi(server)
body = malipo.CreateCollection(phone="256772000100", amount=5000, reference="INV-1")
collection = collections.create_collection(str(uuid4()), body)
assert isinstance(collection.created_at, datetime) and isinstance(collection.operator_reference, UUID), collection
paid = until("succeeded", lambda: collections.get_collection(collection.id))
assert (paid.amount, paid.currency, paid.failure) == (5000, "UGX", None), paid

recent = (datetime.now(timezone.utc) - timedelta(hours=1)).isoformat()
listed = collections.list_collections(created_from=recent, state="succeeded")
assert collection.id in [item.id for item in listed.data], listed
balance = malipo.BalanceApi(server).get_balance()
assert balance.available >= 5000 and balance.currency == "UGX", balance

payouts = malipo.PayoutsApi(server)
body = malipo.CreatePayout(phone="256772000200", amount=2000, reference="PAY-1")
payout = payouts.create_payout(str(uuid4()), body)
assert payout.approval_state == "pending", payout

console = malipo.ApiClient(malipo.Configuration(host=BASE_URL), header_name="Origin", header_value=BASE_URL)
sessions = malipo.ConsoleSessionApi(console)
body = malipo.LogIn(
    email=os.environ["MALIPO_APPROVER_EMAIL"],
    password=os.environ["MALIPO_APPROVER_PASSWORD"],
    totp=one_time_code(os.environ["MALIPO_APPROVER_TOTP_SECRET"]),
)
entered = sessions.log_in_with_http_info(body)
# It keeps no cookies by itself.
console.cookie = entered.headers["Set-Cookie"].split(";")[0]
assert sessions.get_session().person.id == entered.data.person.id
released = malipo.ConsolePayoutsApi(console).release_payout(payout.id, str(uuid4()), "1")
assert released.approval_state == "approved", released
ended = until("succeeded", lambda: payouts.get_payout(payout.id))
assert [approval.user_id for approval in ended.approvals] == [entered.data.person.id], ended
assert payout.id in [item.id for item in payouts.list_payouts().data]

try:
    payouts.create_payout(str(uuid4()), malipo.CreatePayout(phone="256772000200", amount=4_000_000, reference="PAY-2"))
    raise AssertionError("more than there is was paid out")
except malipo.ApiException as refused:
    assert (refused.status, refused.data.error.code) == (402, "balance_insufficient"), refused
print("created, listed, fetched, paid out, read the balance, logged in, released")
