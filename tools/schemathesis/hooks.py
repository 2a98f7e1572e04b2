"""What no schema can say about a request: numbers that exist, the merchant's currency, cursors of ours."""

import re
import unicodedata

import schemathesis

PHONE = re.compile(r"^[1-9][0-9]{7,14}$")
CURRENCY = re.compile(r"^[A-Z]{3}$")
CURSOR = re.compile(r"^[A-Za-z0-9_-]+$")
MAX_AMOUNT = 9007199254740991


def is_unseen(character):
    code = ord(character)
    return code > 0xFFFF and (
        unicodedata.category(character) == "Cf" or 0xE0000 <= code <= 0xE0FFF or code & 0xFFFE == 0xFFFE
    )


def visible(text):
    return "".join("x" if is_unseen(character) else character for character in text)


def existing(fields):
    """Values that fit the schema become ones that exist; those that do not fit stay, to be refused."""
    fields = {visible(name): visible(value) if isinstance(value, str) else value for name, value in fields.items()}
    if isinstance(fields.get("phone"), str) and PHONE.match(fields["phone"]):
        fields["phone"] = "256772000100"
    if isinstance(fields.get("currency"), str) and CURRENCY.match(fields["currency"]):
        fields["currency"] = "UGX"
    amount = fields.get("amount")
    if isinstance(amount, int) and not isinstance(amount, bool) and 1 <= amount <= MAX_AMOUNT:
        fields["amount"] = 5000
    if isinstance(fields.get("metadata"), dict):
        fields["metadata"] = existing(fields["metadata"])
    return fields


@schemathesis.hook
def before_call(context, case, kwargs):
    if isinstance(case.body, dict) and "/v1/api/" in case.path:
        case.body = existing(case.body)
    if isinstance(case.query, dict):
        case.query = {name: visible(value) if isinstance(value, str) else value for name, value in case.query.items()}
        if isinstance(case.query.get("cursor"), str) and CURSOR.match(case.query["cursor"]):
            del case.query["cursor"]
