import type { Signature } from '../../git/objects/object.ts'
import { committerOfCommit } from '../../git/objects/object.ts'
import type { Actor } from '../../rules/candidates/candidate.ts'
import { inert } from '../../rules/text/inert.ts'
import { oneLine } from '../../rules/text/lines.ts'

/**
 * A commit message: a subject, and trailers that nothing in a title or a name can add to, since each value stays on its
 * line and the block is the message's last. A forge that the commit is pushed to does nothing for what a title says.
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

/** How the address of every author and committer of the server's commits ends. It can receive no mail, and says so. */
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

/** Whether the server made a commit: then there is a candidate for whatever it changed. */
export function isByServer(commit: Buffer): boolean {
  return committerOfCommit(commit).email === committer(new Date(0)).email
}
