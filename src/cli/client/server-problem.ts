import type { z } from 'zod'
import { ConnectionError, GanglionError } from '../../client/index.ts'
import { type ErrorCode, errorTable } from '../../contract/errors.ts'

/** Every command takes its key from the same place. */
const ofKey: Sentences = { invalid_token: () => 'The server does not know the key in GANGLION_KEY.' }

type Sentences = Partial<Record<string, (error: GanglionError) => string>>

/** What the client gives, as its schema has it. @throws {Error} with a sentence for people, see {@link serverProblem} */
export async function readAnswer<Schema extends z.ZodType>(
  asked: Promise<unknown>,
  schema: Schema,
  { url, sentences }: { url: string; sentences?: Sentences },
): Promise<z.output<Schema>> {
  const answer = await asked.catch((error: unknown) => {
    throw new Error(serverProblem(error, url, sentences))
  })
  const { success, data } = schema.safeParse(answer)
  if (success) return data
  throw new Error(`${url} answered, not as Ganglion does. Is it the server's own URL?`)
}

/**
 * Says in one line why a request failed. None of the server's own words are in it: who else answers at its address may repeat the key.
 * @param sentences for codes that mean more here than in general
 */
export function serverProblem(error: unknown, url: string, sentences: Sentences = {}): string {
  if (error instanceof ConnectionError) return error.message.replace(/\.$/, `${reasonOf(error)}.`)
  if (!(error instanceof GanglionError)) return error instanceof Error ? error.message : String(error)
  const { code, status } = error
  if (code === 'unknown') return `${url} answered ${status}, not as Ganglion does. Is it the server's own URL?`
  if (!isErrorCode(code)) return `${url} answered ${status}, with a code that this version of Ganglion does not know.`
  return (sentences[code] ?? ofKey[code])?.(error) ?? errorTable[code].message
}

/** What the network said, as `ECONNREFUSED`: fetch itself says no more than that it failed. */
function reasonOf({ cause }: Error): string {
  if (!(cause instanceof Error)) return ''
  return 'code' in cause && typeof cause.code === 'string' ? `: ${cause.code}` : reasonOf(cause)
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code)
}
