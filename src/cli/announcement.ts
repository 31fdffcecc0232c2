import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfThere } from '../system/read-if-there.ts'

/** Knowledge base and keys created by the first start of a data directory. The tokens are shown only once. */
export type FirstSteps = { kb: string; curatorToken: string; appToken: string }

/**
 * Returns what `serve` prints once it listens at `url`: the link that creates the first administrator, until there is one, and on the first
 * start the keys and three example commands.
 */
export function announcement(url: string, { first, setUpUrl }: { first?: FirstSteps; setUpUrl?: string }): string {
  const paragraphs = [`Ganglion listens at ${url}`]
  if (setUpUrl !== undefined) {
    paragraphs.push(`Open this link to become its administrator. It works once, for 24 hours:\n  ${setUpUrl}`)
  }
  if (first !== undefined) {
    paragraphs.push(
      `It made the knowledge base ${first.kb} and two API keys, shown only now:
  curator  ${first.curatorToken}
  app      ${first.appToken}`,
      'Paste these one after the other to submit knowledge, approve it and read it:',
      firstSteps(url, first).join('\n'),
    )
  }
  return paragraphs.join('\n\n')
}

/** Returns shell commands that need curl, tee and sed, and print the responses. */
function firstSteps(url: string, { kb, curatorToken, appToken }: FirstSteps): string[] {
  const candidate = JSON.stringify({
    knowledgeBaseId: kb,
    kind: 'external-feed',
    title: 'VIP escalation policy',
    content: 'When a VIP customer raises a ticket, page the lead.',
  })
  const [app, curator] = [appToken, curatorToken].map((token) => `-H 'Authorization: Bearer ${token}'`)
  const pick = (field: string) => `tee /dev/stderr | sed -n 's/.*"${field}":"\\([^"]*\\)".*/\\1/p'`
  return [
    `candidate=$(curl -s ${url}/api/v1/queue/candidates ${app} -H 'Content-Type: application/json' -d '${candidate}' | ${pick('candidateId')})`,
    `neuron=$(curl -s -X POST ${url}/api/v1/queue/candidates/$candidate/approve ${curator} | ${pick('seqId')})`,
    `curl -s ${url}/api/v1/neurons/${kb}/$neuron ${app}`,
  ]
}

const fileIn = (dataDir: string) => join(dataDir, 'server-address')

/** Stores the address at which a data directory is served, for commands that run next to the server. */
export async function rememberAddress(dataDir: string, url: string): Promise<void> {
  await writeFile(fileIn(dataDir), `${url}\n`, { mode: 0o600 })
}

export function serverAddress(dataDir: string): string | undefined {
  const url = readIfThere(fileIn(dataDir))?.trim()
  return url !== undefined && URL.canParse(url) ? url : undefined
}
