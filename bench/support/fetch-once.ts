import fs from 'node:fs'
import git from 'isomorphic-git'
import http from 'isomorphic-git/http/node'
import { Repository } from '../../src/git/repository.ts'
import { withQuarantine } from '../../src/git/transport/quarantine.ts'
import { fetchPack } from '../../src/git/transport/remote.ts'
import { packLimits } from '../../src/push/git/git-transfers.ts'

/** Without a URL a commit of the repository is read, as for a past version. */
const [who, url = '', gitdir = '', main = ''] = process.argv.slice(2)
// Not `maxRSS`, which begins with that of the parent.
const peak = () => Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1])
const before = peak()
if (url === '') {
  await (who === 'ours' ? new Repository(gitdir).read(main) : git.readCommit({ fs, gitdir, oid: main }))
} else if (who === 'ours') {
  const pack = fetchPack({ url, username: 'bench', password: 'bench' }, { wants: [main], haves: [] })
  await withQuarantine(gitdir, pack, packLimits, async (quarantine) => (await quarantine.admit())())
} else {
  await git.addRemote({ fs, gitdir, remote: 'origin', url })
  await git.fetch({ fs, http, gitdir, remote: 'origin', ref: 'main', singleBranch: true })
}
process.stdout.write(String((peak() - before) / 1024))
