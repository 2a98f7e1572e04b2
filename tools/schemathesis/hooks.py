"""What no schema can say about a request: who sends it, what exists, and the values that only we know."""

import os
import re
import unicodedata
from datetime import datetime, timedelta, timezone
from uuid import uuid4

import requests
import schemathesis

# Where `tools/fuzz.ts` creates what the next request needs, and says who sends it.
PREPARE_URL = os.environ["MALIPO_FUZZ_PREPARE_URL"]
PHONE = re.compile(r"^[1-9][0-9]{7,14}$")
CURRENCY = re.compile(r"^[A-Z]{3}$")
CURSOR = re.compile(r"^[A-Za-z0-9_-]+$")
ID = re.compile(r"^([a-z]{3})_[0-7][0-9a-hjkmnp-tv-z]{25}$")
EXAMPLE_KEY = "order-1042"
FORM = "application/x-www-form-urlencoded"
SESSION = re.compile(r"^malipo_session=([^;]*)$")
MAX_AMOUNT = 9007199254740991
# Stands for the credentials until the request is sent: cases are generated long before.
MARK = "credentials"
# Only a value of ours is the right one, or no pattern says which are refused.
OURS = {
    *("allowed_addresses", "credential", "current_password", "endpoint_id", "ids", "merchant_id"),
    *("new_password", "password", "token", "totp", "url"),
}
ADDRESSES = {"return_url": "https://shop.example/orders/1042", "url": "https://shop.example/webhooks"}
# Each of them names each item once.
LISTS = {"allowed_addresses", "event_types", "ids", "roles", "scopes", "states"}

connection = requests.Session()
# The credentials that counted when their request was sent.
given = set()


def is_unseen(character):
    code = ord(character)
    return code > 0xFFFF and (
        unicodedata.category(character) == "Cf" or 0xE0000 <= code <= 0xE0FFF or code & 0xFFFE == 0xFFFE
    )


def visible(text):
    return "".join("x" if is_unseen(character) else character for character in text)


def is_amount(value):
    """JSON has one kind of number: 5000.0 is as whole as 5000."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and 1 <= value <= MAX_AMOUNT and value == int(value)


def existing(fields):
    """Values that fit the schema become ones that exist; those that do not fit stay, to be refused."""
    fields = {visible(name): visible(value) if isinstance(value, str) else value for name, value in fields.items()}
    if isinstance(fields.get("phone"), str) and PHONE.match(fields["phone"]):
        fields["phone"] = "256772000100"
    if isinstance(fields.get("currency"), str) and CURRENCY.match(fields["currency"]):
        fields["currency"] = "UGX"
    # M-Pesa serves no phone of Uganda.
    if fields.get("operator") == "daraja":
        fields["operator"] = "mtn-momo"
    if is_amount(fields.get("amount")):
        fields["amount"] = 5000
    if isinstance(fields.get("metadata"), dict):
        fields["metadata"] = existing(fields["metadata"])
    return fields


def with_ours(fields, ours):
    """A sound body with the values of ours that it names."""
    if isinstance(fields.get("expires_at"), str):
        fields = {**fields, "expires_at": (datetime.now(timezone.utc) + timedelta(days=1)).isoformat()}
    # Not every text of their forms is an address.
    for name, address in ADDRESSES.items():
        if isinstance(fields.get(name), str):
            fields = {**fields, name: address}
    if isinstance(fields.get("email"), str):
        person, _, host = fields["email"].rpartition("@")
        fields = {**fields, "email": f"{person[:64].rstrip('.')}@{host}"}
    # One right factor is enough, and a wrong one beside it is refused.
    if "totp" in ours:
        fields = {name: value for name, value in fields.items() if name not in ("passkey", "recovery_code")}
        fields["totp"] = ours["totp"]
    # A person logs in by their own e-mail.
    if "password" in fields and "email" in fields:
        fields = {**fields, "email": ours["email"]}
    return {name: ours[name] if name in OURS and name in ours else value for name, value in fields.items()}


def without_nulls(fields):
    """The document says that null leaves a field out, whatever its schema says: in its place, what fits no field."""
    return {name: [[0]] if value is None else value for name, value in fields.items()}


def as_form(fields):
    """A form carries no other lists than those of texts, at least one: in place of others, one that names its items twice."""

    def in_form(value):
        items = value if isinstance(value, list) else [value]
        is_list = items is value and items and all(isinstance(item, str) for item in items)
        return value if is_list else (items or [""]) * 2

    return {name: in_form(value) if name in LISTS else value for name, value in fields.items()}


def prepare(case):
    response = connection.post(PREPARE_URL, json={"operationId": case.operation.definition.raw["operationId"]})
    assert response.ok, response.text
    prepared = response.json()
    given.update((prepared["session"], f"Bearer {prepared['key']}"))
    return prepared


@schemathesis.auth(refresh_interval=None)
class Credentials:
    """Marks where the credentials go, except in requests that are to have none or others."""

    def get(self, case, context):
        return None if case.operation.definition.raw.get("security") == [] else MARK

    def set(self, case, data, context):
        if case.path.startswith("/v1/console/"):
            case.cookies["malipo_session"] = data
        else:
            case.headers["Authorization"] = f"Bearer {data}"


@schemathesis.hook
def before_call(context, case, kwargs):
    prepared = prepare(case)
    is_sound = case.meta is None or case.meta.generation.mode.is_positive
    if case.cookies.get("malipo_session") == MARK:
        case.cookies["malipo_session"] = prepared["session"]
        case.headers["Origin"] = prepared["origin"]
    if case.headers.get("Authorization") == f"Bearer {MARK}":
        case.headers["Authorization"] = f"Bearer {prepared['key']}"
    # The example would be the key of another request from the second one on.
    if case.headers.get("Idempotency-Key") == EXAMPLE_KEY:
        case.headers["Idempotency-Key"] = f"order-{uuid4()}"
    ours = prepared.get("id", "")
    generated = ID.match(str((case.path_parameters or {}).get("id", "")))
    # Those that end in 0 stay unknown.
    if generated and ours.startswith(generated[1]) and not generated[0].endswith("0"):
        case.path_parameters["id"] = ours
    if isinstance(case.body, dict) and case.path.startswith("/v1/"):
        case.body = existing(case.body)
        if is_sound:
            case.body = with_ours(case.body, prepared.get("json", {}))
        else:
            case.body = without_nulls(case.body)
            if case.media_type == FORM:
                case.body = as_form(case.body)
    if isinstance(case.query, dict):
        case.query = {name: visible(value) if isinstance(value, str) else value for name, value in case.query.items()}
        if isinstance(case.query.get("cursor"), str) and CURSOR.match(case.query["cursor"]):
            del case.query["cursor"]
        # No pattern says what is left of a pasted text, which zones there are, or how far one day may be from another.
        if is_sound and "q" in case.query:
            case.query["q"] = "INV-1042"
        if is_sound and "time_zone" in case.query:
            case.query["time_zone"] = "Africa/Kampala"
        if is_sound and case.path.endswith("/totals"):
            case.query.pop("from", None)


@schemathesis.check
def credentials_still_count(ctx, response, case):
    """No request may end the access of the ones after it: they would test the refusal alone."""
    cookie = SESSION.search(response.request.headers.get("Cookie", ""))
    sent = response.request.headers.get("Authorization") or (cookie and cookie[1])
    assert response.status_code != 401 or sent not in given, "the credentials of the requests do not count any more"
