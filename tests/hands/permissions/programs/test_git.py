"""git reads freely, and asks before it throws away, sends, fetches or runs something."""

from __future__ import annotations

import pytest

from tests.hands.permissions.verdicts import category, seen

EVERYDAY = [
    "git config --list --show-origin",
    "git config --global user.name",
    "git status --short",
    "git diff",
    "git diff --stat HEAD~3",
    "git log --oneline -20",
    "git log -p -- src/app.py",
    "git show HEAD",
    "git branch",
    "git branch --list",
    "git branch -a",
    "git branch feature/x",
    "git checkout -b feature/x",
    "git switch main",
    "git stash list",
    "git add -A",
    "git add .",
    "git commit -m \"A message; with $ and 'quotes'\"",
    "git commit -am 'fix: x'",
    "git rev-parse HEAD",
    "git blame src/app.py",
    "git remote -v",
    "git config --get user.name",
    "git config user.name",
    "git -C sub status",
    "git --no-pager log -5",
    "git merge feature",
    "git ls-files | wc -l",
    "git diff main..feature -- src",
    "git tag",
    "git worktree list",
    "git ls-files '*.py' | xargs wc -l | sort -n | tail -5",
    "git diff main...feature",
    "git diff HEAD -- src/app.py",
    "git log ..main",
    "git show HEAD~2:src/app.py",
    "git worktree add wt feature",
    "git clean -n",
    "git clean -fdn",
    "git archive -o build/x.tar HEAD",
    "git stash push -m wip",
    "git stash -u",
    "git stash pop",
    "git cherry-pick abc123",
    "git rebase main",
    "git reset HEAD~1",
    "git reset --soft HEAD~1",
    "git restore --staged a.txt",
    "git commit -F msg.txt",
    'files=$(git ls-files); echo "$files"',
    "git status && git diff --stat && git log --oneline -3",
]

ASKS = {
    "publish": [
        "git push",
        "git push origin main",
        "git commit -m x && git push",
        "git send-email x.patch",
        "git push --mir",
    ],
    "destructive": [
        "git push --force",
        "git push origin :main",
        "git clean -fdx",
        "git reset --hard",
        "git checkout -- .",
        "git checkout .",
        "git checkout HEAD src/app.py",
        "git restore src/app.py",
        "git stash drop",
        "git stash clear",
        "git branch -D main",
        "git reflog expire --all",
        "git gc --prune=now",
        "git filter-branch --tree-filter 'rm x' HEAD",
        "git diff --output=/etc/x",
        "git reset --har",
        "git switch --discard",
        "git archive -o/etc/x HEAD",
        "git format-patch -o /etc HEAD",
        "git stash -q drop",
        "git clean -f -e -n",
        "git clean -f",
        "git branch -D x",
        "git branch -f x y",
        "git checkout -f",
        "git tag -d x",
        "git -C ~ clean -fdx",
        "git -C ~ checkout .",
    ],
    "opaque": [
        "git rebase -i HEAD~3",
        "git rebase --exec 'id' main",
        "git -c alias.x='!id' x",
        "git x",
        "git --exec-path=/tmp status",
        "git diff --ext-diff",
        "git difftool -x 'id'",
        "git bisect run sh -c id",
        "git -c core.fsmonitor=./x status",
        "git -c diff.external=./x diff",
        "git --git-dir=/x status",
        "git log --output=x.txt --ext-d",
        "git hash-object -w ~/.ssh/id",
        "git update-index --x",
    ],
    "privilege": [
        "git config --unset x.y",
        "git config --edit",
        "git config --global --list --edit",
        "git config core.pager 'sh -c id'",
        "git config --global alias.x '!id'",
        "git remote add x https://example.com",
        "GIT_SSH_COMMAND='sh -c id' git fetch",
        "GIT_EXTERNAL_DIFF=./x git diff",
        "echo x > .git/config",
        "echo x > .git/hooks/pre-commit",
        "cp x .git/hooks/y",
        "mv x .git/hooks/y",
        "EDITOR=x git commit",
    ],
    "network": [
        "git clone https://example.com/x.git",
        "git fetch",
        "git pull",
        "git submodule update --init",
        "git archive --remote=ssh://x HEAD",
    ],
    "deletes": [
        "git rm src/app.py",
        "git ls-files | xargs -n1 git rm",
    ],
    "outside": [
        "git clone ../x",
        "git worktree add ../x",
        "git diff --no-ind a b",
        "git commit -F../x",
        "git commit --file=/etc/hosts",
    ],
    "sensitive": [
        "git commit -F ~/.ssh/id_rsa",
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
