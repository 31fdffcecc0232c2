import type { Signature } from '../../git/objects/object.ts'
import { committerOfCommit } from '../../git/objects/object.ts'
import type { Actor } from '../../rules/candidates/candidate.ts'
import { inert } from '../../rules/text/inert.ts'
import { oneLine } from '../../rules/text/lines.ts'

/**
 * Formats a commit message: a subject and trailers. Nothing in a title or a name can add a trailer, since each value stays on its line and
 * the block is the message's last. A forge takes no action on the text of a title.
 */
export function commitMessage(
  subject: string,
  trailers: Readonly<Record<string, string>> | readonly (readonly [name: string, value: string])[],
  body: readonly string[] = [],
): string {
  const pairs = isList(trailers) ? trailers : Object.entries(trailers)
  const lines = pairs.map(([name, value]) => `${name}: ${oneLine(value, 200)}`)
  return inert(
    [oneLine(subject, 120), ...(body.length > 0 ? [body.join('\n')] : []), `${lines.join('\n')}\n`].join('\n\n'),
  )
}

/** Domain of the e-mails of authors and committers in the server's commits. It can receive no mail. */
export const serverDomain = '@ganglion.invalid'

export function signatureOf(actor: Actor, at: Date): Signature {
  return { name: oneLine(actor.name, 100), email: actor.id.replaceAll(':', '-') + serverDomain, at }
}

export function committer(at: Date): Signature {
  return { name: 'Ganglion', email: `ganglion${serverDomain}`, at }
}

function isList(trailers: object): trailers is readonly (readonly [string, string])[] {
  return Array.isArray(trailers)
}

/** True if the server made a commit: then every change in it has a candidate. */
export function isByServer(commit: Buffer): boolean {
  return committerOfCommit(commit).email === committer(new Date(0)).email
}
