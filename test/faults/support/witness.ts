import type { Api } from './api.ts'
import { git, gitLines } from './git.ts'
import type { Ledger } from './ledger.ts'

type Sizes = { candidates: number; approvals: number; pushes: number }

/**
 * The cheap checks after each fault: both refs have only grown, and hold what was acknowledged since the last look.
 * What main and the queue have held once is remembered, so that a look costs as much as what is new.
 */
export function newWitness(gitDir: string): (ledger: Ledger) => Promise<string[]> {
  const seen = { main: '', queue: '' }
  const commits = new Set<string>()
  const records = new Set<string>()
  let looked: Sizes = { candidates: 0, approvals: 0, pushes: 0 }

  return async (ledger) => {
    const problems: string[] = []
    for (const [name, ref] of [['main', 'refs/heads/main'] as const, ['queue', 'refs/ganglion/queue'] as const]) {
      const { stdout, code } = await git(gitDir, ['rev-parse', '--verify', '--quiet', ref])
      const head = stdout.trim()
      if (code !== 0) {
        if (seen[name] !== '') problems.push(`${name} is gone`)
        continue
      }
      const since = seen[name]
      if (since !== '' && (await git(gitDir, ['merge-base', '--is-ancestor', since, head])).code !== 0) {
        problems.push(`${name} was at ${since} and went back`)
      }
      const range = since === '' ? [head] : [head, `^${since}`]
      if (name === 'main') for (const oid of await gitLines(gitDir, ['rev-list', ...range])) commits.add(oid)
      else for (const path of await changedPaths(gitDir, since, head)) records.add(path)
      seen[name] = head
    }
    const isOnMain = (oid: string) => commits.has(oid)
    problems.push(...ledger.unexpected)
    for (const id of [...ledger.candidates.keys()].slice(looked.candidates)) {
      if (!records.has(`${id.slice(-4, -2)}/${id.slice(-2)}/${id}.md`)) problems.push(`the candidate ${id} is lost`)
    }
    for (const [id, { commit }] of [...ledger.approvals].slice(looked.approvals)) {
      if (!isOnMain(commit)) problems.push(`the approval of ${id} is lost: ${commit}`)
    }
    for (const oid of [...ledger.pushes].slice(looked.pushes)) {
      if (!isOnMain(oid)) problems.push(`the push of ${oid} is lost`)
    }
    looked = { candidates: ledger.candidates.size, approvals: ledger.approvals.size, pushes: ledger.pushes.size }
    return problems
  }
}

async function changedPaths(gitDir: string, since: string, head: string): Promise<string[]> {
  if (since === '') return gitLines(gitDir, ['ls-tree', '-r', '--name-only', head])
  return gitLines(gitDir, ['diff-tree', '-r', '--name-only', '--diff-filter=d', since, head])
}

/** Submissions that are sent again at once. */
const againAtOnce = 8

/** Sends each submission whose answer never came again, twice at once, as a client that waits for one does. */
export async function askAgain(api: Api, ledger: Ledger): Promise<void> {
  const cut = ledger.cut
  ledger.cut = []
  const askNext = async () => {
    for (let submission = cut.pop(); submission !== undefined; submission = cut.pop()) {
      const receipts = await Promise.all([api.submit(submission), api.submit(submission)])
      // A connection may break without a fault, as when a load balancer ends an idle one; an error is unexpected anyway.
      const ids = new Set(receipts.flatMap((receipt) => receipt?.candidateId ?? []))
      if (ids.size !== 1) ledger.unexpected.push(`one idempotency key made ${ids.size}: ${[...ids].join(' and ')}`)
    }
  }
  await Promise.all(Array.from({ length: againAtOnce }, askNext))
}

/** Number of the latest acknowledged writes that are read again after a restart. */
const sample = 10

/** Returns answers of a restarted server that differ from its acknowledgements. */
export async function readBack(api: Api, ledger: Ledger): Promise<string[]> {
  const approvals = [...ledger.approvals].slice(-sample).map(async ([id, { seqId, commit, marker }]) => {
    const past = JSON.stringify((await api.request('GET', `/neurons/faults/${seqId}?at=${commit}`))?.body)
    const now = await api.request('GET', `/neurons/faults/${seqId}`)
    const candidate = JSON.stringify((await api.request('GET', `/queue/candidates/${id}`))?.body)
    return [
      ...(past?.includes(marker) ? [] : [`${seqId} at ${commit} is ${past}`]),
      ...(now?.status === 200 ? [] : [`${seqId} is ${JSON.stringify(now)}`]),
      ...(candidate?.includes('"status":"approved"') ? [] : [`${id} is ${candidate}`]),
    ]
  })
  const dismissals = [...ledger.dismissals].slice(-sample).map(async (id) => {
    const candidate = JSON.stringify((await api.request('GET', `/queue/candidates/${id}`))?.body)
    return candidate?.includes('"status":"dismissed"') ? [] : [`${id} is ${candidate}`]
  })
  return (await Promise.all([...approvals, ...dismissals])).flat()
}
