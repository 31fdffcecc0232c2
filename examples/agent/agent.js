import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const { GANGLION_URL: url = 'http://127.0.0.1:4870', GANGLION_KEY: key = '', GANGLION_KB: kb = 'demo' } = process.env
/** A model would write the second: what it knows about the question. */
const [question, knowledge] = process.argv.slice(2)
if (question === undefined) throw new Error('Usage: node agent.js QUESTION [KNOWLEDGE]')

const client = new Client({ name: 'example-agent', version: '1.0.0' })
const requestInit = { headers: { authorization: `Bearer ${key}` } }
await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))

/** @param {string} name @param {Record<string, unknown>} input @returns {Promise<any>} */
async function call(name, input) {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: input })
  if (isError) throw new Error(`${name}: ${content.map((part) => ('text' in part ? part.text : '')).join('')}`)
  return structuredContent
}

const { answer, citations } = await call('ask', { kb, message: question })
console.log(answer)
for (const { seqId, title } of citations) console.log(`  ${seqId} ${title}`)

if (citations.length === 0 && knowledge !== undefined) {
  const page = { kb, action: 'new', title: question, content: knowledge, confidence: 0.5, reason: 'It was asked.' }
  const { verdict } = await call('propose', { ...page, preview: true })
  console.log(`The policy would ${verdict.approve ? 'approve it' : 'let it wait'}: ${verdict.reason}.`)
  await call('propose', page)
}

const { candidates } = await call('my_candidates', { kb })
for (const { status, title, reason = '-' } of candidates) console.log([status, title, reason].join('\t'))
await client.close()
