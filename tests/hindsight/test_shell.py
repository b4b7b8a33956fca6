"""Reading shell commands and judging what they do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.hindsight.shell.commands import cached_command_effect, command_effect
from loopaudit.hindsight.shell.parse import MAX_COMMAND, parse
from loopaudit.hindsight.shell.programs import Effect

LOOKS = """
ls -la
cat a b | grep -v x | sort | uniq -c | head -5
cat a > /dev/null 2>&1
grep -n '|' f
grep "a > b" f
rg -n "foo(bar)" src
sed -n '1,20p' f
sed 's/a/b/g' f
sed -n '/foo/,/bar/p' f
awk 'NR>=3 && NR<=5' f
awk '{print $2}' f
find . -name '*.py' -type f
find . -name x -exec grep -l y {} +
cd src && git log --oneline -3
git -C /x diff --stat; git status
git branch -a
git stash list
git config --get user.name
git remote -v
docker ps -a
docker compose logs web
kubectl get pods -n x
gh pr view 3 --json title
gh api repos/o/r/pulls --jq .[0].state
gh api -X GET search/code -f q=x
curl -s http://localhost:80/x
curl -sS -o /dev/null -w '%{http_code}' http://x
curl -X GET http://x
wget -qO- http://x
env | sort
timeout 10 ls
FOO=1 BAR=2 ls
for f in *.py; do wc -l "$f"; done
if [ -f a ]; then cat a; else echo no; fi
while read l; do echo $l; done < f
(cd a; ls)
{ ls; pwd; }
echo $(ls) `pwd` "$(date)"
diff <(ls a) <(ls b)
ls # > x
cat <<'EOF'
bash -lc 'ls | head'
python --version
pip list
npm ls
cargo metadata
go list ./...
node --version
systemctl status web
echo a\\;b
test -f x || echo no
ls &
""".strip().split("\n")

CHECKS = """
pytest -x -q
python -m pytest tests
python3 -m unittest
cd x && pytest 2>&1 | tail -5
npm test
npm run test:unit
yarn lint
poetry run pytest
uv run mypy src
npx eslint .
cargo test --workspace
go vet ./...
make test
make -j4 lint check
./gradlew test
ruff check .
ruff format --check .
black --check .
tsc --noEmit
python manage.py test
cd /somewhere
export A=1
""".strip().split("\n")

CHANGES = """
rm x
cat a > b
echo x >> f
ls &> log
ls 2> err.txt
tee f
sed -i s/a/b/ f
sed -n -i p f
sed 's/a/b/w out' f
awk '{print > "x"}' f
awk 'BEGIN{system("rm x")}'
find . -delete
find . -exec rm {} +
find . | xargs rm
git commit -m x
git branch new
git stash
git config user.name x
git push
git diff --output=x
docker run x
docker compose up
kubectl apply -f x
gh pr create
gh api repos/o/r/issues -f title=x
gh api graphql -F query=@q
gh api -X DELETE repos/o/r/labels/x
curl -X POST http://x
curl -d a=1 http://x
curl -O http://x/f
wget http://x
npm install
npm run build
pytest --snapshot-update
eslint . --fix
ruff check --fix .
make
make install
python x.py
python -c 'print(1)'
node x.js
bash x.sh
bash -c 'ls > x'
ssh host ls
ls; rm x
ls && rm x
ls | tee x
ls & rm x
(ls; rm x)
echo $(rm x)
echo "$(rm x)"
echo `rm x`
$CMD x
if true; then rm x; fi
for f in *; do rm $f; done
f() { rm x; }
cat <(rm x)
sudo rm x
env A=1 rm x
timeout 5 rm x
cat <<EOF > f
apply_patch x
sort -o f f
rg --pre cat x
unknown-program
echo 'unclosed
case x in y) ls;; esac
source venv/bin/activate
""".strip().split("\n")


@pytest.mark.parametrize("command", LOOKS)
def test_looks(command: str) -> None:
    if command.endswith("<<'EOF'"):
        command += "\nrm x $(rm y)\nEOF"
    assert command_effect(command).effect == Effect.LOOKS


@pytest.mark.parametrize("command", CHECKS)
def test_checks(command: str) -> None:
    assert command_effect(command).effect == Effect.CHECKS


@pytest.mark.parametrize("command", CHANGES)
def test_changes(command: str) -> None:
    if command.startswith("cat <<EOF"):
        command += "\nx\nEOF"
    assert command_effect(command).effect == Effect.CHANGES


@pytest.mark.parametrize(
    ("command", "waits", "only"),
    [
        ("sleep 10", True, True),
        ("sleep 1; sleep 2", True, True),
        ("timeout 9 sleep 5", True, True),
        ("sleep 10; ls", True, False),
        ("sleep 10 && ./build --status", True, False),
        ("tail -f log", True, False),
        ("gh run watch 5", True, False),
        ("kubectl get pods -w", True, False),
        ("watch -n 2 ls", True, False),
        ("ls", False, False),
        ("echo sleep 10", False, False),
    ],
)
def test_waits(command: str, waits: bool, only: bool) -> None:
    verdict = command_effect(command)
    assert (verdict.waits, verdict.only_waits) == (waits, only)


def test_words_are_unquoted() -> None:
    parsed = parse("""a 'b c' "d \\" e" f\\ g""")
    assert parsed is not None
    assert parsed.pipelines[0][0].words == ["a", "b c", 'd " e', "f g"]


def test_pipelines_and_substitutions_are_told_apart() -> None:
    parsed = parse("a | b && c $(d; e) > out")
    assert parsed is not None
    assert [[s.words[0] for s in line] for line in parsed.pipelines] == [["a", "b"], ["c"]]
    assert [[s.words[0] for s in line] for line in parsed.nested] == [["d"], ["e"]]
    assert parsed.pipelines[1][0].outputs == ["out"]


def test_here_documents_are_data() -> None:
    parsed = parse("cat <<'A' <<B\nrm x\nA\n$(ls)\nB\npwd")
    assert parsed is not None
    assert [line[0].words[0] for line in parsed.pipelines] == ["cat", "pwd"]
    assert [line[0].words for line in parsed.nested] == [["ls"]]


@pytest.mark.parametrize(
    "command", ["a 'b", 'a "b', "a $(b", "a `b", "cat <<EOF\nx", "x" * (MAX_COMMAND + 1), "a=(1 2)"]
)
def test_what_is_not_plain_is_refused(command: str) -> None:
    assert parse(command) is None
    assert command_effect(command).effect == Effect.CHANGES


@given(st.text(st.sampled_from("ab $(){}[]'\"`\\|&;<>\n#=-*!~0"), max_size=40))
def test_any_text_is_judged(text: str) -> None:
    assert command_effect(text) == cached_command_effect(text)


@given(st.sampled_from(LOOKS[:40]), st.sampled_from([" ; ", " && ", " || ", "\n"]), st.sampled_from(CHANGES[:40]))
def test_a_change_is_never_hidden_by_a_look(look: str, joint: str, change: str) -> None:
    if "<<" in look + change or "#" in look or "unclosed" in change:
        return
    assert command_effect(f"{look}{joint}{change}").effect == Effect.CHANGES


@given(st.sampled_from(CHANGES[:40]))
def test_a_change_is_never_hidden_by_a_substitution(change: str) -> None:
    if "'" not in change and '"' not in change:
        assert command_effect(f'echo "$({change})"').effect == Effect.CHANGES
        assert command_effect(f"bash -c '{change}'").effect == Effect.CHANGES
