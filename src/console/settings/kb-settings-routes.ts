import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { AppContext } from '../../app/open-context.ts'
import { kbPage } from '../../contract/console-paths.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { faultOf } from '../../contract/faults.ts'
import { callerOf } from '../../http/access/auth.ts'
import type { ZodFastify } from '../../http/zod-compilers.ts'
import {
  changeKbSettings,
  type KbSettingsForm,
  previewKbSettings,
  readKbSettings,
  type SettingsChange,
  SettingsChanged,
} from '../../operate/settings/change-kb-settings.ts'
import { type SettingValues, settingNames, withFlags } from '../../operate/settings/setting-values.ts'
import { html } from '../layout/html-template.ts'
import { KbParams } from '../layout/page-query.ts'
import { send, visitOf } from '../layout/page-routes.ts'
import { type KbSettingsView, kbSettingsPage } from './kb-settings-page.ts'

const Query = z.object({
  commit: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/)
    .optional()
    .catch(undefined),
  /** A line more of a setting that has lines, to be looked at and completed. */
  pins: z.string().max(400).optional().catch(undefined),
  synonyms: z.string().max(400).optional().catch(undefined),
})
/** A box that is not ticked is not sent. Browsers send CRLF. */
const Value = z
  .string()
  .max(20_000)
  .default('')
  .transform((text) => text.replaceAll('\r\n', '\n'))
const Values = z
  .object(Object.fromEntries(settingNames.map((name) => [name, Value])))
  .transform((values) => values as SettingValues)
const Sent = z
  .looseObject({ base: z.string().max(64), do: z.enum(['preview', 'commit']), seen: z.string().max(64).default('') })
  .transform((sent, context) => {
    const { data, error } = Values.safeParse(sent, { error: faultOf })
    if (data !== undefined) return { ...sent, values: withFlags(data) }
    for (const issue of error.issues) context.addIssue({ ...issue, code: 'custom' })
    return z.NEVER
  })

export function kbSettingsRoutes(app: ZodFastify, ctx: AppContext): void {
  const config = { people: 'admin' } as const

  app.get('/kb/:kb/settings', { config, schema: { params: KbParams, querystring: Query } }, async (request, reply) => {
    const shown = await readKbSettings(ctx, callerOf(request), request.params.kb)
    const { commit, ...lines } = request.query
    for (const name of ['pins', 'synonyms'] as const) {
      const line = lines[name]
      if (line !== undefined) shown.values[`search.${name}`] = `${shown.values[`search.${name}`]}\n${line}`.trim()
    }
    const notice = commit && html`The settings are changed: commit <code>${commit.slice(0, 12)}</code>.`
    return send(reply, kbSettingsPage(visitOf(request), { shown, notice }))
  })

  app.post('/kb/:kb/settings', { config, schema: { params: KbParams, body: Sent } }, async (request, reply) => {
    const caller = callerOf(request)
    const visit = visitOf(request)
    const { base, values, seen, do: action } = request.body
    const { kb } = request.params
    const now = await readKbSettings(ctx, caller, kb)
    const again = (view: Partial<KbSettingsView>, status: number) =>
      send(reply, kbSettingsPage(visit, { shown: { ...now, base, values }, ...view }), status)
    try {
      const change: SettingsChange = { base, values }
      const preview = await previewKbSettings(ctx, caller, kb, change)
      const known = createHash('sha256').update(preview.diff).digest('hex')
      // What is committed is what was shown.
      if (action === 'preview' || seen !== known) return again({ preview: { ...preview, seen: known } }, 200)
      const commit = await changeKbSettings(ctx, caller, kb, change)
      return reply.redirect(`${kbPage(now.slug)}/settings${commit === undefined ? '' : `?commit=${commit}`}`, 303)
    } catch (error) {
      if (error instanceof SettingsChanged) return again(overtaken(now, values, error), 409)
      if (error instanceof ValidationError) return again({ errors: error }, 400)
      if (!(error instanceof GanglionError) || error.code !== 'approval_needed') throw error
      const problem = `Nothing is changed. ${error.message} Ask one of them to make this change.`
      return again({ errors: { formErrors: [problem] } }, 409)
    }
  })
}

/** The form after others were faster: theirs, but for what was typed here. */
function overtaken(
  now: KbSettingsForm,
  typed: SettingValues,
  { changed, before }: SettingsChanged,
): Partial<KbSettingsView> {
  const values = { ...now.values }
  for (const name of settingNames) if (typed[name].trim() !== before[name].trim()) values[name] = typed[name]
  const names = changed.length === 0 ? 'something that this form does not show' : changed.join(', ')
  const message = `Somebody else has changed the settings meanwhile: ${names}. What you typed is kept. Look at it, and show what changes again.`
  return { shown: { ...now, values }, errors: { formErrors: [message] } }
}
