import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ErrorCode, errorTable, GanglionError } from '../../../src/contract/errors.ts'
import { parseSent } from '../../../src/contract/faults.ts'
import { answerError } from '../../../src/http/response/error-answer.ts'

/** Fields of a response besides code and message. */
const details: Partial<Record<ErrorCode, Record<string, unknown>>> = {
  file_type_not_allowed: { allowedTypes: ['pdf', 'md'] },
  merge_conflict: {
    conflicts: [{ line: 3, base: 'Nine to five.', current: 'Nine to six.', proposed: 'Ten to five.' }],
    commit: '3f786850e387550fdab836ed7e6dc881de23001b',
  },
  stale_head: { head: '3f786850e387550fdab836ed7e6dc881de23001b' },
  duplicate_source: {
    existingDocumentId: '019b9c9b-2f10-7a3c-b1d2-4e5f6a7b8c9d',
    existingFilename: 'vip.pdf',
    existingPath: '/policies',
    existingCreatedAt: '2026-01-08T09:12:44.000Z',
    hint: 'Append ?force=true to upload it anyway, as a separate Source.',
  },
  offset_mismatch: { bytesReceived: 8388608 },
  chunk_differs: { bytesReceived: 8388608 },
  incomplete: { bytesReceived: 8388608 },
}

const invalid = [
  '',
  'A request that does not match its schema is 400, with the faults by field in `fieldErrors`, and those of the whole request in',
  '`formErrors`. *Correct the fields and send the request again.*',
  '',
  '| fault of `title` | sent | response |',
  '|---|---|---|',
]

/** Faults of a field, each with a schema that reports it, and a wrong value. */
const faults: [string, z.ZodType, unknown][] = [
  ['missing', z.string(), undefined],
  ['another type', z.string(), 7],
  ['empty', z.string().min(1), ''],
  ['too long', z.string().max(5), 'Escalation'],
  ['out of bounds', z.number().max(1), 2],
  ['too many items', z.array(z.string()).max(1), ['a', 'b']],
  ['none of the values', z.enum(['up', 'down', 'flag']), 'sideways'],
  ['no UUID', z.uuid(), 'handbook'],
]

test('the document has each error with its cause, its remedy and the response of the server', async () => {
  const server = fastify().setErrorHandler(answerError)
  server.get<{ Params: { code: ErrorCode } }>('/:code', ({ params: { code } }) => {
    throw new GanglionError(code, undefined, details[code])
  })
  const rejected = new Map(
    faults.map(([name, schema, value]) => [name, { schema: z.object({ title: schema }), value }]),
  )
  server.get<{ Params: { fault: string } }>('/faults/:fault', ({ params: { fault } }) => {
    const { schema = z.never(), value } = rejected.get(fault) ?? {}
    return parseSent(schema, { title: value })
  })
  const rows = faults.map(async ([name, , value]) => {
    const { statusCode, body } = await server.inject(`/faults/${encodeURIComponent(name)}`)
    expect(statusCode).toBe(400)
    return `| ${name} | \`${JSON.stringify({ title: value })}\` | \`${body}\` |`
  })
  const table = ['## Faults of a request', ...invalid, ...(await Promise.all(rows))]
  const codes = Object.keys(errorTable).filter((code): code is ErrorCode => Object.hasOwn(errorTable, code))
  const entries = codes.map(async (code) => {
    const { status, message, remedy } = errorTable[code]
    const { statusCode, json, headers } = await server.inject(`/${code}`)
    expect(statusCode).toBe(status)
    const body: Record<string, unknown> = json()
    const common = body.code === code ? { error: message, code } : { error: code, message }
    const more = Object.fromEntries(Object.entries(body).filter(([name]) => !Object.hasOwn(common, name)))
    expect(body).toEqual({ ...common, ...more })
    const wait = headers['retry-after'] === undefined ? [] : [`\`Retry-After: ${headers['retry-after']}\``]
    const fields = Object.keys(more).length === 0 ? wait : [...wait, `\`${JSON.stringify(more)}\``]
    return `| \`${code}\` | ${status} | ${message} *${remedy}* | ${fields.join('<br>')} |`
  })
  const path = 'docs/errors.md'
  const [prose = ''] = readFileSync(path, 'utf8').split('\n## ')
  const head = [
    '## Codes',
    '',
    '| code | status | message, *and what to do* | more in the response |',
    '|---|---|---|---|',
  ]
  const expected = [prose, ...table, '', ...head, ...(await Promise.all(entries)), ''].join('\n')
  await server.close()
  await expect(expected).toMatchFileSnapshot(join('../../..', path))
})
