// Uses the tools of a server through the adapters of other frameworks: mcp-adapters.mjs URL KEY. Prints what each finds, as JSON.
import { createMCPClient } from '@ai-sdk/mcp'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'

const [address, key] = process.argv.slice(2)
const url = `${address}/mcp`
const headers = { Authorization: `Bearer ${key}` }
const query = { query: 'lead' }

const vercel = await createMCPClient({ transport: { type: 'http', url, headers } })
const tools = await vercel.tools()
const found = await tools.search.execute(query, { messages: [], toolCallId: '1' })
await vercel.close()

const langchain = new MultiServerMCPClient({ mcpServers: { ganglion: { transport: 'http', url, headers } } })
const adapted = await langchain.getTools()
const answered = await adapted.find(({ name }) => name === 'search')?.invoke(query)
await langchain.close()

console.log(
  JSON.stringify({
    vercel: { tools: Object.keys(tools), found },
    langchain: { tools: adapted.map(({ name }) => name), found: answered },
  }),
)
