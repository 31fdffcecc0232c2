#!/usr/bin/env bash
# Functions of .ci/run and .ci/long, which source this file. Needs Debian's packages and the npm registry, nothing else.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# install_tools PACKAGE…: installs those of Debian's packages that the machine lacks.
install_tools() {
  local package missing=()
  for package in "$@"; do has "$package" || missing+=("$package"); done
  [ ${#missing[@]} -eq 0 ] || { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; }
}

# has PACKAGE: whether the programs of a package are here, however they were installed.
has() {
  case $1 in
    nodejs) command -v npm ;;
    postgresql) command -v initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' ;;
    pgbouncer) [ -x /usr/sbin/pgbouncer ] ;;
    nginx-light) command -v nginx ;;
    prometheus) command -v promtool ;;
    systemd) command -v systemd-analyze ;;
    faketime) compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' ;;
    *) command -v "$1" ;;
  esac >/dev/null
}

# start COMMAND…: runs a suite or a check in the background once fewer than three are running. Suites wait for browsers, nodes and kills
# for half of their time, so three keep two processors busy. The output is printed when the command has ended.
start() {
  while [ "$(jobs -rp | wc -l)" -ge 3 ]; do wait -n; done
  {
    output=$(mktemp -p "$work")
    timed "$2" "$@" &>"$output"
    cat "$output"
  } &
}

# timed NAME COMMAND…: runs a command and prints how many seconds it took.
timed() {
  local begun=$SECONDS
  "${@:2}"
  printf '\n%s took %d s\n' "$1" $((SECONDS - begun))
}

# check NAME COMMAND…: counts a command as one test.
check() {
  printf '\n== %s\n' "$1"
  if "${@:2}"; then tally 1 0; else tally 0 1 "$1"; fi
}

# suite NAME SCRIPT: runs the tests of an npm script and counts each of them.
suite() {
  printf '\n== %s\n' "$1"
  local report="$work/$2.json" status passed failed
  npm run --silent "$2" -- --reporter=dot --reporter=json --outputFile.json="$report"
  status=$?
  read -r passed failed < <(node -p "const r = JSON.parse(fs.readFileSync('$report')); r.numPassedTests + ' ' + (r.numTotalTests - r.numPassedTests)")
  if [ "${failed:-0}" -gt 0 ]; then
    tally "$passed" "$failed" "$(failed_tests "$report")"
  elif [ "$status" -ne 0 ] || [ "${passed:-0}" -eq 0 ]; then
    # A suite that fails outside its tests, or runs none, has failed.
    tally "${passed:-0}" 1 "npm run $2 ended with $status"
  else
    tally "$passed" 0
  fi
}

# failed_tests REPORT: prints the tests that did not pass, one a line, with the beginning of the reason.
failed_tests() {
  node -p "JSON.parse(fs.readFileSync('$1')).testResults.flatMap(({ name, assertionResults }) => assertionResults
    .filter(({ status }) => status !== 'passed')
    .map(({ fullName, failureMessages = [] }) => [path.relative('.', name), fullName, failureMessages.join(' ').slice(0, 600)].join(' > ').replace(/\s+/g, ' ')))
    .join('\n')"
}

# tally PASSED FAILED NAMES: adds the result of a suite or a check to the totals.
tally() {
  echo "$1 $2" >>"$work/counts"
  [ "$2" -eq 0 ] || printf '%s\n' "$3" >>"$work/failures"
}

# other_platform OS CPU: an install on another system gets as many programs made for it as one on Linux.
other_platform() {
  local here
  here=$(made_for linux x64)
  [ "$here" -gt 0 ] && [ "$(made_for "$1" "$2")" -eq "$here" ]
}

# made_for OS CPU: how many packages of programs for a system an install of the lock file would add. Packages name win32 also win.
made_for() {
  local folder
  folder=$(mktemp -d -p "$work") && cp --parents package.json package-lock.json packages/*/package.json "$folder/"
  npm ci --dry-run --ignore-scripts --prefix "$folder" --os="$1" --cpu="$2" --libc=glibc | grep -c -e "-${1%32}.*-$2"
}

packed() {
  local tarball suite widget checker=dist/kb/ganglion-check.tgz repository=$PWD
  tarball=$(npm pack --silent --pack-destination "$work" | tail -n 1) || return 1
  suite=$(npm pack --silent --pack-destination "$work" ./dist/contract-suite | tail -n 1) || return 1
  widget=$(npm pack --silent --pack-destination "$work" ./dist/widget | tail -n 1) || return 1
  publishable ganglion 3000 "$work/$tarball" && publishable @ganglion/check 400 "$checker" && publishable @ganglion/client 120 ./dist/client-package &&
    publishable @ganglion/widget 35 ./dist/widget && publishable @ganglion/contract 40 ./dist/contract-suite || return 1
  mkdir -p "$work/empty" && cd "$work/empty" && npm init --yes >/dev/null &&
    npm install --silent --no-audit --no-fund "$work/$tarball" "$work/$suite" "$work/$widget" &&
    node -e "import('@ganglion/widget/proxy').then(({ nodeProxy }) => process.exit(nodeProxy ? 0 : 1))" &&
    [ -s node_modules/ganglion/dist/widget/ganglion-chat.js ] && [ -s node_modules/@ganglion/widget/ganglion-chat.js ] &&
    [ -x node_modules/ganglion/hooks/pre-receive ] && [ -x node_modules/ganglion/hooks/proc-receive ] &&
    [ "$(npx --no-install ganglion --version)" = "$(node -p "require('$repository/package.json').version")" ] &&
    npx --no-install ganglion kb create handbook --tenant acme --data "$work/data" --json &&
    keeps_contract && shows_demo "$work/$tarball" &&
    mkdir "$work/alone" && cd "$work/alone" && npm init --yes >/dev/null &&
    npm install --silent --no-audit --no-fund --offline "$work/empty/node_modules/ganglion/$checker" &&
    "$repository/node_modules/.bin/node" node_modules/.bin/ganglion-check --help >/dev/null &&
    cd "$repository" && GANGLION_CHECKER="$work/empty/node_modules/ganglion/$checker" \
    npm test -- --testTimeout 300000 test/kb/kb-template.test.ts -t 'on GitHub|the checker'
}

# publishable NAME KB PACKAGE: npm would publish a folder or a tarball under this name, with what it needs, in at most so many KB. The tag
# spares a question to the registry, which would refuse a version that is out.
publishable() {
  npm publish --dry-run --tag latest --json "$3" 2>"$work/publish" | node -e "
    const said = JSON.parse(fs.readFileSync(0)), { name, size, files } = said.files ? said : Object.values(said)[0]
    const lacks = ['package.json', 'README.md', 'LICENSE'].filter((file) => !files.some(({ path }) => path === file))
    console.log(name, Math.ceil(size / 1000), 'KB,', files.length, 'files')
    if (name !== '$1' || size > $2_000 || lacks.length > 0) throw new Error('$1 is not ready: at most $2 KB; it lacks ' + lacks)" &&
    grep -q 'public access' "$work/publish" || { cat "$work/publish"; return 1; }
}

# shows_demo TARBALL: npx and the package, in an empty folder, serve the demo, which finds something. Files that code finds by its own place
# are served too, a clone has the pages, and a picture is read.
shows_demo() {
  local server key curator url found path
  mkdir "$work/demo" && cd "$work/demo" || return 1
  GANGLION_LOG_LEVEL=error GANGLION_PORT=0 setsid npx --yes --package "$1" ganglion >said &
  server=$!
  until grep -q '^  app ' said; do kill -0 "$server" && sleep 0.2 || return 1; done
  url=$(sed -n 's/^Ganglion listens at //p' said) key=$(sed -n 's/^  app  *//p' said) curator=$(sed -n 's/^  curator  *//p' said)
  found=$(curl -sS "$url/api/v1/search?kb=demo&q=red+zone" -H "Authorization: Bearer $key") &&
    for path in "$(curl -sS "$url/sign-in" | grep -om 1 'assets/[^"]*js')" docs/static/swagger-ui.css widget/v1/ganglion-chat.js ci/ganglion-check.tgz; do
      curl -fsSL "$url/$path" -o /dev/null || found=
    done
  git clone --quiet "${url/:\/\//:\/\/me:$curator@}/git/default/demo.git" && [ -d demo/neurons ] && reads_picture "$url" "$curator" || found=
  kill -- "-$server" && wait "$server"
  [[ $found == *'"seqId":"demo_'* ]]
}

# reads_picture URL KEY: a picture becomes pages, for which a process reads its text.
reads_picture() {
  local api="$1/api/v1" id status=pending
  id=$(curl -fsS "$api/knowledge-bases/demo/documents/upload" -H "Authorization: Bearer $2" -F "file=@$repository/test/sources/extract/fixtures/notice.png" |
    node -p 'JSON.parse(fs.readFileSync(0)).id') || return 1
  for _ in $(seq 100); do
    status=$(curl -fsS "$api/documents/$id" -H "Authorization: Bearer $2" | node -p 'JSON.parse(fs.readFileSync(0)).status')
    case $status in pending | processing) sleep 0.3 ;; *) break ;; esac
  done
  [ "$status" = success ]
}

# image: the image of the container runs without rights on a read-only root until it is healthy.
image() {
  local id status=starting
  docker build --quiet --file deploy/Dockerfile --tag ganglion:ci . &&
    id=$(docker run --detach --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges ganglion:ci) || return 1
  for _ in $(seq 60); do
    status=$(docker inspect --format '{{.State.Health.Status}}' "$id")
    [ "$status" = starting ] && sleep 2 || break
  done
  docker logs "$id" 2>&1 | tail -n 5
  docker rm --force --volumes "$id" >/dev/null
  [ "$status" = healthy ]
}

# keeps_contract: the installed server passes the installed suite.
keeps_contract() {
  local server status
  npx --no-install ganglion kb create elsewhere --tenant other --data "$work/data" --json &&
    CONTRACT_KEY=$(new_key acme app) && CONTRACT_CURATOR_KEY=$(new_key acme curator) && CONTRACT_OTHER_KEY=$(new_key other app) || return 1
  export CONTRACT_KEY CONTRACT_CURATOR_KEY CONTRACT_OTHER_KEY
  GANGLION_LOG_LEVEL=error GANGLION_PORT=0 GANGLION_RATE_WRITES=10000 GANGLION_RATE_CHATS=1000 \
    node_modules/.bin/ganglion serve --data "$work/data" --json >"$work/serve" &
  server=$!
  until [ -s "$work/serve" ]; do kill -0 "$server" && sleep 0.2 || return 1; done
  npx --no-install ganglion-contract --level ganglion --kb handbook --url "$(node -p "JSON.parse(fs.readFileSync('$work/serve')).url")"
  status=$?
  kill "$server" && wait "$server"
  return "$status"
}

# new_key TENANT ROLE: an API key of the installed server.
new_key() {
  npx --no-install ganglion key create --tenant "$1" --role "$2" --data "$work/data" --json | node -p 'JSON.parse(fs.readFileSync(0)).token'
}

# finish: waits for all that was started, prints what failed and the totals, and fails if anything did.
finish() {
  local passed failed
  wait
  if [ -s "$work/failures" ]; then printf '\nFailed:\n' && cat "$work/failures"; fi
  read -r passed failed < <(awk '{ passed += $1; failed += $2 } END { print passed, failed }' "$work/counts")
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
}
