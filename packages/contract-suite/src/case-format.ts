import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const requestLine = z.string().regex(/^(?:[A-Z]+ \/\S*|\$\{\w+\})$/, 'must be a method and a path')
const Status = z.union([z.int(), z.array(z.int())])
const Matchers = z.record(z.string(), z.unknown())

/** File of a form. `text` is its content; `size` appends that number of zero bytes. */
const FilePart = z.strictObject({ name: z.string(), text: z.string().optional(), size: z.int().optional() })

const Request = {
  send: requestLine.optional(),
  as: z.enum(['key', 'curator', 'other', 'none', 'invalid']).default('key'),
  headers: z.record(z.string(), z.string()).default({}),
  json: z.unknown().optional(),
  text: z.string().optional(),
  form: z.record(z.string(), z.union([z.string(), FilePart])).optional(),
}
/** Request that removes something. It is repeated for `until` seconds while the response is 409. */
const Undo = z.strictObject({ ...Request, until: z.number().default(0) })

const ScenarioStep = z
  .strictObject({
    ...Request,
    /** Runs the step once for each combination of a name and one of its values. */
    each: z.record(z.string(), z.array(z.unknown())).default({}),
    let: z.record(z.string(), z.string()).default({}),
    /** Name under which the response stays open as a stream of events. A step with `next` waits until one of them matches `answer`. */
    opens: z.string().optional(),
    next: z.string().optional(),
    status: Status.optional(),
    answer: z.unknown().optional(),
    answerHeaders: Matchers.default({}),
    answerText: z.unknown().optional(),
    save: z.record(z.string(), z.string()).default({}),
    /** Seconds for which the step is repeated until it passes. */
    until: z.number().optional(),
    /** Name of the capability that the server lacks if it answers 403, 404, 405 or 501. The scenario is then skipped. */
    optional: z.string().optional(),
  })
  .refine(({ send, next }) => (send === undefined) !== (next === undefined), 'must have `send` or `next`')
export type ScenarioStep = z.output<typeof ScenarioStep>
export type UndoRequest = z.output<typeof Undo>

const Scenario = z.strictObject({
  /** Sentence of the interface document that the scenario checks. */
  says: z.string(),
  level: z.enum(['reference', 'ganglion']).default('reference'),
  steps: z.array(ScenarioStep).min(1),
})

const Area = z.strictObject({
  area: z.string().regex(/^[a-z]+$/),
  /** Steps that run once, before the scenarios of the area. */
  before: z.array(ScenarioStep).default([]),
  scenarios: z.record(z.string(), Scenario),
})
export type Area = z.output<typeof Area>
export type Scenario = z.output<typeof Scenario> & { id: string }

const LeftBehind = z.strictObject({
  after: requestLine,
  status: z.int(),
  save: z.record(z.string(), z.string()),
  leaves: z.string(),
  undo: Undo.optional(),
})
export type LeftBehind = z.output<typeof LeftBehind>

/** Reads the areas in the YAML files of a folder, and the cleanup rules in its `cleanup.yaml`. */
export async function readCases(folder: string): Promise<{ areas: Area[]; cleanup: LeftBehind[] }> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort()
  const read = async <T extends z.ZodType>(name: string, schema: T) => {
    const result = schema.safeParse(parse(await readFile(join(folder, name), 'utf8')))
    if (!result.success) throw new Error(`${name} is not valid:\n${z.prettifyError(result.error)}`)
    return result.data
  }
  const names = files.filter((name) => name !== 'cleanup.yaml')
  const areas = await Promise.all(names.map((name) => read(name, Area)))
  return { areas, cleanup: files.includes('cleanup.yaml') ? await read('cleanup.yaml', z.array(LeftBehind)) : [] }
}

export function scenariosOf({ area, scenarios }: Area): Scenario[] {
  return Object.entries(scenarios).map(([name, scenario]) => ({ id: `${area}/${name}`, ...scenario }))
}
