import { Ignored } from '../answer-fields.ts'
import type { Report, ReportedFinding } from '../forge-adapter.ts'
import { ForgeError } from '../forge-error.ts'
import type { ForgeHttp } from '../forge-http.ts'
import { GiteaReview } from './gitea-answers.ts'

const context = 'Ganglion'
/** Characters of the description of a commit status: what fits on a line there. */
const maxStatus = 140
/** What a review begins with that tells of findings, hidden from readers. */
const marker = '<!-- ganglion:report -->'

/** Whether a review is a report of findings, and so nothing that anybody said. */
export function isReport(body: string | null | undefined): boolean {
  return body?.startsWith(marker) === true
}

/**
 * Tells what a check found: a commit status, and a review with a comment on the line of each finding, which replaces the one before.
 * @param me the account that writes
 */
export async function report(http: ForgeHttp, base: string, me: string, told: Report): Promise<void> {
  const { number, head, findings } = told
  await http.send('POST', `${base}/statuses/${head}`, statusOf(told), Ignored)
  const reviews = `${base}/pulls/${number}/reviews`
  for (const { id, body, user } of await http.list(`${reviews}?limit=50`, GiteaReview)) {
    // Somebody may have quoted one.
    if (isReport(body) && user?.login === me) await http.send('DELETE', `${reviews}/${id}`, undefined, Ignored)
  }
  if (findings.length === 0) return
  const review = { event: 'COMMENT', commit_id: head }
  const comments = findings.map(({ path, line, ...finding }) => ({ path, new_position: line, body: textOf(finding) }))
  try {
    await http.send('POST', reviews, { ...review, body: `${marker}\n${literal(told.title)}`, comments }, Ignored)
  } catch (error) {
    if (!(error instanceof ForgeError && error.code === 'conflict')) throw error
    // It does not take a comment on such a line.
    const lines = findings.map(({ path, line, ...finding }) => `- ${literal(`${path}:${line}`)} ${textOf(finding)}`)
    await http.send('POST', reviews, { ...review, body: [marker, ...lines].join('\n') }, Ignored)
  }
}

/** Waiting is no failure, and `pending` would keep people from merging where a rule asks for this status. */
function statusOf({ outcome, title, url }: Report) {
  return {
    ...{ state: outcome === 'failed' ? 'failure' : 'success', context, description: title.slice(0, maxStatus) },
    ...(url === undefined ? {} : { target_url: url }),
  }
}

function textOf({ severity, message }: Pick<ReportedFinding, 'severity' | 'message'>): string {
  return `**${severity}:** ${literal(message)}`
}

/** Text in a code span (CommonMark 6.1), so that nothing in it is markup or a mention. */
function literal(text: string): string {
  const fence = '`'.repeat(1 + Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length)))
  return `${fence} ${text.replace(/\s+/g, ' ')} ${fence}`
}
