import { z } from 'zod'
import { candidatePage } from '../../contract/console-paths.ts'
import { CandidateKind, CandidateStatus, Zone } from '../../contract/vocabulary.ts'
import type { QueueView } from '../../queue/lists/list-queue.ts'
import { type ConsoleRequest, withQuery } from '../layout/page-routes.ts'

const maxText = 200

/** Accepts an empty field: a form also sends the fields that nobody filled in. */
function orBlank<Schema extends z.ZodType>(schema: Schema) {
  return z
    .literal('')
    .transform(() => undefined)
    .or(schema)
    .optional()
}

const text = (max: number) => orBlank(z.string().trim().max(max, `must be at most ${max} characters`))

export const shows = ['rendered', 'lines', 'split', 'sides'] as const
export type Show = (typeof shows)[number]

export const QueueParams = z.object({
  kb: text(100),
  status: orBlank(z.enum([...CandidateStatus.options, 'any'])),
  kind: orBlank(CandidateKind),
  connector: text(200),
  zone: orBlank(z.enum([...Zone.options, 'none'])),
  tag: text(100),
  assignee: text(300),
  onBehalfOf: text(400),
  for: orBlank(z.literal('me')),
  text: text(maxText),
  show: orBlank(z.enum(shows)),
})
export type QueueParams = z.output<typeof QueueParams>

export const results = ['done', 'conflict', 'changed', 'decided', 'failed'] as const
export type Result = (typeof results)[number]

/** Prefix of the `seen` of a bundle, in place of that of a candidate. */
export const bundleMark = 'bundle:'

/** Maximum number of candidates on one page of the list. */
export const pageLength = 25

/** Maximum number of decisions whose results the list shows. */
export const maxResults = 2 * pageLength

/** Results of decisions in a query: `<id>.<result>`, joined by commas. */
const Did = z
  .string()
  .max(100 * pageLength)
  .transform((text) => text.split(',').map((each) => each.split('.')))
  .pipe(z.array(z.tuple([z.uuid(), z.enum(results)])).max(maxResults))

const CandidateId = z.uuid().optional()
const Cursor = z.string().max(500).optional()

/** Query of the list. `done` and `did` name the latest decisions. */
export const ListParams = QueueParams.extend({
  after: Cursor,
  before: Cursor,
  pick: z.literal('all').optional(),
  done: CandidateId,
  did: Did.optional(),
})
export type ListParams = z.output<typeof ListParams>

const Flag = z.literal('1').optional()

/**
 * Query of a candidate's page: whether to open the edit form, whether to search similar pages at once, and whether it was proposed just
 * now.
 */
export const CandidateParams = QueueParams.extend({ edit: Flag, similar: Flag, proposed: Flag, done: CandidateId })
export type SentOfOne = ConsoleRequest<
  { id: string },
  QueueParams & Partial<Pick<z.output<typeof CandidateParams>, 'done' | 'similar' | 'proposed'>>
>

/** Returns the view that the use cases take: pending candidates by default. */
export function viewOf({ status = 'pending', show: _, ...view }: QueueParams): QueueView {
  return { ...view, ...(status === 'any' ? {} : { status }) }
}

type More = Readonly<Record<string, string | undefined>>

export function listPath(params: QueueParams, more: More = {}): string {
  return withQuery('/queue', queryOf(params, more))
}

/** Returns the path of an action. @param action the last segment of the path of an action on the candidate */
export function candidateUrl(id: string, params: QueueParams, more: More = {}, action?: string): string {
  return withQuery(`${candidatePage(id)}${action === undefined ? '' : `/${action}`}`, queryOf(params, more))
}

function queryOf(params: QueueParams, more: More): More {
  const { kb, for: whose, status, zone, kind, connector, tag, assignee, onBehalfOf, text, show } = params
  const other = status === 'pending' ? undefined : status
  return { kb, for: whose, status: other, zone, kind, connector, tag, assignee, onBehalfOf, text, show, ...more }
}
