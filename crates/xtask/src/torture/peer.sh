# A tower of the reference's kind, in one step: its lock, its fence, its branch and its marker, then the worker.
#
# $1 bundle, $2 unit, $3 what it needs, $4 where it dies, then the worker's command. Runs in a primary checkout.
spec=$1 unit=$2 needs=$3 death=$4
shift 4
lock=specs/$spec/.orchestrate.lock
branch=planwright/$spec/task-$unit
fence=refs/planwright-fence/$spec/$unit
marker=specs/$spec/.orchestrate/markers/$unit
tree=.claude/worktrees/$spec-task-$unit
absent=0000000000000000000000000000000000000000

die() { [ "$death" != "$1" ] || kill -9 $$; }
leave() { rmdir "$lock"; exit 0; }
fetch() { git fetch --quiet origin --refmap= '+refs/heads/*:refs/remotes/origin/*' --no-write-fetch-head 2>/dev/null; }
has_landed() { git log --format=%B refs/remotes/origin/main | grep -qx "Planwright-Task: $spec/$1"; }
give_back() {
  git push --quiet --force-with-lease="$fence:$tip" origin ":$fence" 2>/dev/null
  leave
}

mkdir "$lock" 2>/dev/null || exit 0
die locked
fetch || leave
if has_landed "$unit"; then
  git push --quiet origin ":$fence" 2>/dev/null
  leave
fi
for need in $needs; do has_landed "$need" || leave; done
for reference in "refs/heads/$branch" "refs/remotes/origin/$branch"; do
  if git rev-parse --quiet --verify "$reference" >/dev/null; then leave; fi
done
[ ! -e "$marker" ] || leave

taken=$(git ls-remote origin "refs/planwright-fence/$spec/*" 2>/dev/null) || leave
case "$taken" in *"$fence"*) leave ;; esac
tip=$(git ls-remote origin refs/heads/main 2>/dev/null | cut -f 1)
[ -n "$tip" ] || leave
lease=--force-with-lease=$fence:$absent
said=$(git push --porcelain --atomic "$lease" origin "$tip:$fence" 2>/dev/null) || leave
die fenced
case "$said" in *"*	$tip:$fence	"*) ;; *) leave ;; esac
# Whether it has landed was looked at before the fence was there.
fetch || give_back
[ "$(git rev-parse refs/remotes/origin/main)" = "$tip" ] || give_back

git worktree add --quiet -b "$branch" "$tree" "$tip" 2>/dev/null || give_back
die branched
mkdir -p "${marker%/*}"
date +%s >"$marker.$$"
mv "$marker.$$" "$marker"
die marked
rmdir "$lock"
(
  cd "$tree" || exit 1
  ORCHESTRATE_SPEC=$spec ORCHESTRATE_UNIT=$unit exec "$@" --peer "peer-$$"
)
if [ "$(git rev-parse "refs/heads/$branch")" != "$tip" ]; then
  git push --quiet origin "$branch" 2>/dev/null
fi
fetch || exit 0
if has_landed "$unit"; then git push --quiet origin ":$fence" 2>/dev/null; fi
exit 0
