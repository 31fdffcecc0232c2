import { z } from 'zod'
import { faultOf } from '../../contract/faults.ts'
import { UsageError } from '../cli-errors.ts'

export type ApiServer = {
  /** URL without a trailing slash. */
  url: string
  key: string
}

const ServerUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .refine((text) => {
    const url = URL.parse(text)
    return url === null || `${url.username}${url.password}${url.search}${url.hash}` === ''
  }, 'must be without user, password, query and fragment')
  .transform((url) => url.replace(/\/+$/, ''))
/** API key. Node refuses other characters in a header with an error that contains the key. */
const Key = z.string().regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters')

/**
 * Returns the server that a command calls over HTTP: `--url`, or else GANGLION_URL. The key comes only from the environment, since
 * other users can see a command line.
 * @param key description of the required key, for people
 * @param name of the option
 * @throws {UsageError}
 */
export function serverOf(option: unknown, key: string, name = '--url'): ApiServer {
  const url = option ?? (process.env.GANGLION_URL || undefined)
  const given = process.env.GANGLION_KEY?.trim()
  if (url === undefined) throw new UsageError(`${name} or GANGLION_URL must say where the server is`)
  if (!given) throw new UsageError(`GANGLION_KEY must hold ${key}`)
  return { url: parseInput(ServerUrl, url, name), key: parseInput(Key, given, 'GANGLION_KEY') }
}

/** Parses input of a person. @param name option or variable to name in an error @throws {UsageError} */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown, name: string): z.output<Schema> {
  const result = schema.safeParse(input, { error: faultOf })
  if (result.success) return result.data
  throw new UsageError(result.error.issues.map(({ message }) => `${name}: ${message}`).join('\n'))
}
