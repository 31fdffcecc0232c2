import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const { GANGLION_URL: url = 'http://127.0.0.1:4870', GANGLION_KEY: key = '', GANGLION_KB: kb = 'demo' } = process.env
const { values, positionals } = parseArgs({ allowPositionals: true, options: { follow: { type: 'boolean' } } })
/** A model would write the second and the third: what it knows about the question, and what it adds if a curator asks. */
const [question, knowledge, more] = positionals
if (question === undefined) throw new Error('Usage: node agent.js [--follow] QUESTION [KNOWLEDGE [MORE]]')

const client = new Client({ name: 'example-agent', version: '1.0.0' })
const requestInit = { headers: { authorization: `Bearer ${key}` } }
await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))

/** @param {string} name @param {Record<string, unknown>} input @returns {Promise<any>} */
async function call(name, input) {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: input })
  if (isError) throw new Error(`${name}: ${content.map((part) => ('text' in part ? part.text : '')).join('')}`)
  return structuredContent
}

/** Prints the answer to the question and returns the number of cited pages. @returns {Promise<number>} */
async function ask() {
  const { answer, citations } = await call('ask', { kb, message: question })
  console.log(answer)
  for (const { seqId, title } of citations) console.log(`  ${seqId} ${title}`)
  return citations.length
}

/** Returns the last proposal for the question, if there is one. */
async function findProposal() {
  const { candidates } = await call('my_candidates', { kb, limit: 100 })
  return candidates.find((/** @type {{ title: string }} */ { title }) => title === question)
}

async function propose() {
  const page = { kb, action: 'new', title: question, content: knowledge, confidence: 0.5, reason: 'It was asked.' }
  const { verdict } = await call('propose', { ...page, preview: true })
  console.log(`The policy would ${verdict.approve ? 'approve it' : 'let it wait'}: ${verdict.reason}.`)
  await call('propose', page)
}

/** Answers what a curator asks with the next version of the proposal. @param {string} candidateId */
async function revise(candidateId) {
  const { candidates } = await call('my_candidates', { candidateId })
  const [{ version, content, changesRequested }] = candidates
  console.log(`A curator asks: ${changesRequested.reason}`)
  // Without `content` the curator has changed the text, so the agent sends its own anew.
  await call('revise_proposal', { candidateId, version, content: `${content ?? knowledge}\n\n${more}` })
}

if ((await ask()) === 0 && knowledge !== undefined) {
  if ((await findProposal()) === undefined) await propose()
  for (; ; await delay(1_000)) {
    const { candidateId, status, changesRequested } = await findProposal()
    if (changesRequested !== undefined && more !== undefined) await revise(candidateId)
    if (status === 'approved') await ask()
    if (status !== 'pending' || !values.follow) break
  }
}

const { candidates } = await call('my_candidates', { kb })
for (const { status, title, reason = '-' } of candidates) console.log([status, title, reason].join('\t'))
await client.close()
