import { setTimeout as delay } from 'node:timers/promises'
import { Ganglion } from '@ganglion/client'

const {
  GANGLION_URL: url = 'http://127.0.0.1:4870',
  GANGLION_CURATOR_KEY: key = '',
  GANGLION_KB: kb = 'demo',
} = process.env
const { candidates } = new Ganglion({ url, key }).kb(kb)

/** Asks for a change of each page that an agent proposes, and approves the next version; ends after the first approval. */
for (let isDone = false; !isDone; await delay(1_000)) {
  for await (const { candidateId, title, version, changesRequested } of candidates.list({
    status: 'pending',
    connector: 'mcp',
  })) {
    if (changesRequested !== undefined) continue
    if (version === 1) await candidates.requestChanges(candidateId, { reason: 'Say since when.' })
    else isDone = (await candidates.approve(candidateId)).status === 'approved'
    console.log(`${version === 1 ? 'Asked for a change of' : 'Approved'} version ${version}: ${title}`)
  }
}
