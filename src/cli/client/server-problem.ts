import type { z } from 'zod'
import { ConnectionError, GanglionError } from '#client'
import { type ErrorCode, errorTable } from '../../contract/errors.ts'
import { oneLine } from '../../rules/text/lines.ts'
import type { ApiServer } from './api-server.ts'

/** Message for an unknown key. All commands read the key from the same variable. */
const ofKey: Sentences = { invalid_token: () => 'The server does not know the key in GANGLION_KEY.' }

const maxSaid = 500
/** Minimum length of a part of a key that no message may contain. It exceeds `gng_`, the prefix of all keys. */
const keyPart = 6

type Sentences = Partial<Record<string, (error: GanglionError) => string>>

/** Parses a response of the client. @throws {Error} with a sentence for people, see {@link serverProblem} */
export async function readAnswer<Schema extends z.ZodType>(
  asked: Promise<unknown>,
  schema: Schema,
  server: ApiServer,
  sentences?: Sentences,
): Promise<z.output<Schema>> {
  const answer = await asked.catch((error: unknown) => {
    throw new Error(serverProblem(error, server, sentences))
  })
  const { success, data } = schema.safeParse(answer)
  if (success) return data
  throw new Error(`${server.url} answered, not as Ganglion does. Is it the server's own URL?`)
}

/**
 * Returns one line that explains a failed request, in the words of the server. If these contain a part of the key, which another program at
 * the address may repeat, uses the message of the error table.
 * @param sentences messages for codes that mean more here than in general
 */
export function serverProblem(error: unknown, { url, key }: ApiServer, sentences: Sentences = {}): string {
  if (error instanceof ConnectionError) return error.message.replace(/\.$/, `${reasonOf(error)}.`)
  if (!(error instanceof GanglionError)) return error instanceof Error ? error.message : String(error)
  const { code, status } = error
  if (code === 'unknown') return `${url} answered ${status}, not as Ganglion does. Is it the server's own URL?`
  if (!isErrorCode(code)) return `${url} answered ${status}, with a code that this version of Ganglion does not know.`
  const said = typeof error.body.message === 'string' ? oneLine(error.body.message, maxSaid) : ''
  const isSafe = said !== '' && !repeats(said, key)
  return (sentences[code] ?? ofKey[code])?.(error) ?? (isSafe ? said : errorTable[code].message)
}

function repeats(text: string, key: string): boolean {
  const parts = Array.from({ length: Math.max(1, key.length - keyPart + 1) }, (_, at) => key.slice(at, at + keyPart))
  return parts.some((part) => text.includes(part))
}

/** Returns the network error, such as `ECONNREFUSED`, which the error of fetch has as its cause. */
function reasonOf({ cause }: Error): string {
  if (!(cause instanceof Error)) return ''
  return 'code' in cause && typeof cause.code === 'string' ? `: ${cause.code}` : reasonOf(cause)
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code)
}
