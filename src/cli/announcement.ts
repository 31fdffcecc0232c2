/** What the first start of a data directory made. The tokens are shown this once. */
export type FirstSteps = { kb: string; curatorToken: string; appToken: string }

/**
 * What `serve` says once it listens at `url`: until there is an administrator also the link that makes one, and on the first
 * start the keys, and three commands to begin with.
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

/** Shell commands that need curl, tee and sed; each shows the answer it gets. */
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
