"""Project tools run what is there; what brings code in or sends it out asks."""

from __future__ import annotations

import pytest

from tests.hands.permissions.verdicts import category, seen

EVERYDAY = [
    "make",
    "make test",
    "make -j4 build",
    "make clean",
    "cargo build --release",
    "cargo test -- --nocapture",
    "cargo clippy --all-targets -- -D warnings",
    "cargo +nightly fmt",
    "go test ./...",
    "go build -o bin/app ./cmd/app",
    "go vet ./...",
    "npm test",
    "npm run build",
    "npm run test:unit -- --watch=false",
    "npm run lint",
    "yarn test",
    "yarn build",
    "pnpm run build",
    "npx tsc --noEmit",
    "npx eslint src",
    "npx prettier --check .",
    "./gradlew test",
    "mvn -q test",
    "./mvnw verify",
    "dotnet build",
    "bundle exec rspec",
    "CI=true npm test",
    "uv run pytest",
    "poetry run pytest -q",
    "poetry run python script.py",
    "pip list",
    "pip show requests",
    "npm ls",
    "go list ./...",
    "cargo tree",
    "mix test",
    "npm run dev &",
    "mvn clean test",
    "./gradlew clean build",
    "mvn -f sub/pom.xml test",
    "npm --silent test",
    "cargo test -q",
    "cargo build --release -p app",
    "go test -v -run TestX ./pkg/...",
    "uv --directory sub run pytest",
    "make -j8 all test",
    "make CFLAGS=-O2",
    "npx jest --coverage",
    "yarn test:unit",
    "pnpm lint",
]

ASKS = {
    "install": [
        "npm install",
        "npm i left-pad",
        "npm ci",
        "yarn",
        "yarn add x",
        "pip install requests",
        "pip install -r requirements.txt",
        "python -m pip install x",
        ".venv/bin/pip install x",
        "uv pip install x",
        "uv add x",
        "poetry add x",
        "cargo install ripgrep",
        "go get example.com/x",
        "gem install x",
        "apt install x",
        "apt-get install -y x",
        "brew install x",
        "conda install x",
        "make install",
    ],
    "publish": [
        "npm publish",
        "npm run deploy",
        "poetry publish",
        "twine upload dist/*",
        "cargo publish",
        "make deploy",
        "mvn test deploy",
        "./gradlew build publish",
    ],
    "exfiltration": [
        "npm exec foo",
        "npx cowsay",
        "npx -y eslint",
        "pnpm dlx foo",
    ],
    "opaque": [
        "echo x | make -f -",
        "uv run --with x python y.py",
        "cargo --config 'build.rustc-wrapper=\"x\"' build",
        "cargo run --config x",
        "go install example.com/x@latest",
        "go run example.com/x@latest",
        "go test -exec ./x ./...",
        "go build -toolexec ./x",
        "make -f /tmp/other/Makefile",
        "make --eval='x:;id'",
        "make SHELL=./x",
        "npm test --script-shell=./x",
        "npm run test --registry=https://x",
        "npm --foo test publish",
        "npm --ignore-scripts test publish",
        "yarn node -e 'code'",
        "yarn global add x",
        "yarn plugin import https://e/x.js",
        "cargo --foo build publish",
    ],
    "outside": [
        "make -C /etc",
        "npm --prefix /etc test",
    ],
}


@pytest.mark.parametrize("command", EVERYDAY)
def test_everyday_commands_do_not_ask(command: str) -> None:
    assert [finding.sentence for finding in seen(command).findings if finding.category != "changes"] == []


@pytest.mark.parametrize(
    ("expected", "command"), [(kind, each) for kind, several in ASKS.items() for each in several]
)
def test_others_ask_and_say_why(expected: str, command: str) -> None:
    assert category(command) == expected
