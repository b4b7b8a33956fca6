"""Shapes of known secrets are masked, what is none stays, and no text takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core import secrets
from loopaudit.core.secrets import MASK, mask
from tests.spellings import spellings

# Put together here, so that no scanner of this repository takes them for real ones.
BODY = "Zx9" * 14
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE" + BODY + "\n" + BODY + "\n-----END RSA " + "PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + BODY

SECRETS = {
    "openai": "sk-" + "proj-" + BODY,
    "openai old": "sk-" + BODY,
    "anthropic": "sk-" + "ant-api03-" + BODY,
    "stripe": "sk_" + "live_" + BODY,
    "github": "ghp_" + BODY[:36],
    "github fine": "github_" + "pat_" + BODY,
    "gitlab": "glpat-" + BODY[:20],
    "slack": "xoxb-" + "123456789012-" + BODY[:24],
    "aws": "AKIA" + "IOSFODNN7ABCDEFG",
    "google": "AIza" + BODY[:35],
    "huggingface": "hf_" + BODY[:34],
    "npm": "npm_" + BODY[:36],
    "pypi": "pypi-" + "AgEIcHlwaS5vcmc" + BODY,
    "sendgrid": "SG." + BODY[:22] + "." + BODY,
    "groq": "gsk_" + BODY,
    "telegram": "1234567890:" + "AA" + BODY[:33],
    "jwt": JWT,
}

AROUND = ["{}", "key {} here", '"{}"', '{{"command":"curl -H \\"x: {}\\""}}', "x={}&y=1", "({})", "\n{}\n", "'{}'"]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", SECRETS)
def test_tokens_are_masked_wherever_they_stand(name: str, around: str) -> None:
    secret = SECRETS[name]
    masked = mask(around.format(secret))
    assert secret not in masked and secret[8:-4] not in masked and MASK in masked
    assert masked.replace(MASK, "") == around.format("")


VALUE = "correct-horse9"

WRITTEN = [
    "password={}",
    "PASSWORD='{}'",
    "DB_PASSWORD={} ./run",
    'export PGPASSWORD="{}"',
    '{{"password":"{}"}}',
    '{{"command":"export API_KEY=\\"{}\\" && ls"}}',
    '{{"arguments":"{{\\\\\\"client_secret\\\\\\": \\\\\\"{}\\\\\\"}}"}}',
    "api_key: {}",
    "apiKey = `{}`",
    "aws_secret_access_key = {}",
    "x-api-key: {}",
    "AccountKey={};EndpointSuffix=core",
    "token => '{}'",
    "my_secret := {}",
    "https://user:{}@example.com/x",
    "postgres://admin:{}@db:5432/app",
    "redis://:{}@localhost",
    "https://example.com/x?access_token={}&page=2",
    "https://bucket.example.com/o?X-Amz-Signature={}",
    "Authorization: Bearer {}",
    '{{"Authorization":"Basic {}"}}',
    "authorization: token {}",
    "Cookie: session={}",
    "curl -u admin:{} https://example.com",
    "curl --user 'admin:{}' https://example.com",
    "mysql --password {} -h db",
    "tool --api-key '{}' run",
    "CREATE USER x IDENTIFIED BY '{}'",
    "passwd: {}",
    "pass={}",
    "session_id={}",
]


@pytest.mark.parametrize("text", WRITTEN)
@pytest.mark.parametrize("value", [VALUE, "hunter2!x", "pässwört-12345"])
def test_values_that_are_called_a_secret_are_masked(text: str, value: str) -> None:
    masked = mask(text.format(value))
    assert value not in masked and MASK in masked, masked
    assert mask(masked) == masked


def test_an_assignment_is_seen_before_its_pattern_is_needed() -> None:
    """However long what stands between the name and the sign is."""
    for spelled in spellings(secrets._ASSIGNED.pattern.pattern):
        text = spelled.lower().replace("\N{MIDDLE DOT}", "x")
        assert secrets._MAY_BE_ASSIGNED.search(text) is not None, text
    for name in spellings(secrets._KEYWORD):
        assert secrets._NAMED.match(name) is not None, name
        for text in (f"{name}-{'a' * 40}\\\\\\'{' ' * 8}= {'b' * 9}", f"{name.upper()}_{'K.' * 20}:b{'c' * 9}"):
            assert mask(text).endswith(MASK), text


@given(
    st.lists(
        st.sampled_from(
            "password|Token|secretoken|api_key|ſession_id|accesstoken|SIG|s|pass|İ|i\u0307|key|_|=| = |: |'|abc|true|-"
            '|\n|1234567|\\"|max_tokens|${X}'.split("|")
        ),
        max_size=9,
    ).map("".join)
)
def test_values_are_found_by_the_beginnings_of_their_names(text: str) -> None:
    assert secrets._without_assigned(text) == secrets._ASSIGNED.pattern.sub(secrets._assigned, text)


def test_a_token_is_part_of_a_long_word() -> None:
    for spelled in spellings(secrets._TOKENS.pattern.pattern):
        token = spelled.replace("\N{MIDDLE DOT}", "a")
        assert secrets._LONG.fullmatch(token) is not None, token


def test_a_password_with_spaces_in_quotes_goes_as_a_whole() -> None:
    assert mask('password = "two words here"; ls') == f'password = "{MASK}"; ls'


@pytest.mark.parametrize("cut", [len(KEY), len(KEY) - 5, 80, 45])
def test_private_keys_are_masked_also_where_they_are_cut(cut: int) -> None:
    for text in (KEY[:cut], KEY[:cut].replace("\n", "\\n"), f"{KEY}\nbetween\n{KEY[:cut]}"):
        masked = mask(text)
        assert "MIIE" not in masked and BODY[:12] not in masked
    assert "between" in mask(f"{KEY}\nbetween\n{KEY}")


INNOCENT = [
    '{"pattern":"TODO","path":"src/app","output_mode":"content"}',
    "git clone ssh://git@github.com/org/repo.git",
    "https://example.com/a?page=2&sort=name",
    '{"max_tokens":4096,"total_tokens": 12}',
    '{"token_count": 17, "token_limit": 200}',
    "tokens: 1200, laps: 3",
    "def check(password: str) -> bool:",
    "password=$DB_PASSWORD ./run",
    'password = os.environ["DB_PASSWORD"]',
    "token: <your token>",
    "5d0c9a1be2f4a7c3 6a586b5226bac5890b523e050a17bda07a9d01dabf268d78a1c2860e8d88c02f",
    "the basic idea, the bearer of news",
    "sk-learn and task-list",
    "git log --author someone -u",
    "2026-03-01T10:00:00Z",
    "ls -la /etc/passwd",
    "compass: north",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask(text) == text


@given(st.text(max_size=300))
def test_any_text_can_be_masked_twice(text: str) -> None:
    assert mask(mask(text)) == mask(text)


@given(
    st.lists(st.sampled_from([*SECRETS.values(), *(w.format(VALUE) for w in WRITTEN), " ", "\n", "x", '"']), max_size=6)
)
def test_secrets_beside_each_other(parts: list[str]) -> None:
    masked = mask(" ".join(parts))
    assert VALUE not in masked
    assert not any(secret in masked for secret in SECRETS.values())


UNITS = """password= a ://a ://a:b@ eyJ eyJaaaaaaaa. sk- -----BEGIN -----BEGIN_PRIVATE_KEY----- token:_' \\\\" -u_a:
Authorization:_ secret_ api.key- pass --a- x_ =: cookie:_a bearer_ sig [masked] identified_by_ xsecret""".split()


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_text_alone(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit.replace("_", " ") * (size // len(unit))
        start = time.process_time()
        mask(text)
        return time.process_time() - start

    seconds(1_000)
    small, large = (min(seconds(size) for _ in range(3)) for size in (20_000, 160_000))
    assert large < 0.05 or large < 24 * small
    assert large < 5
