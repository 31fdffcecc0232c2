import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

/** Revisions of the protocol: the newest, without a handshake, and those before it. */
export const revisions = ['auto', 'legacy'] as const

/** The official client of the Model Context Protocol, connected to `/mcp`; closed when the test ends. */
export async function mcpClient(
  url: string,
  token: string,
  mode: (typeof revisions)[number] = 'auto',
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  onTestFinished(() => client.close())
  return client
}

/** The text of a result, and the error in it where it is one. */
export function textOf({ content }: Pick<CallToolResult, 'content'>): string {
  return z.array(z.object({ type: z.literal('text'), text: z.string() })).parse(content)[0]?.text ?? ''
}
