import { createHash } from 'node:crypto'
import { z } from 'zod'
import { kbPage } from '../../contract/console-paths.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { faultOf } from '../../contract/faults.ts'
import { candidateKinds } from '../../contract/vocabulary.ts'
import {
  changeKbSettings,
  type KbSettingsForm,
  previewKbSettings,
  readKbSettings,
  SettingsChanged,
  type SettingsPreview,
} from '../../operate/settings/change-kb-settings.ts'
import {
  formSettings,
  type SettingName,
  type SettingValues,
  settingHints,
  settingNames,
  withFlags,
} from '../../operate/settings/setting-values.ts'
import { button, controlsOf, type FormErrors, form, hidden } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { consolePages, KbParams } from '../layout/page-routes.ts'
import { kbLifePath } from './kb-life-page.ts'

type KbSettingsView = {
  /** Current settings of `kb.yaml`; `values` as typed. */
  shown: KbSettingsForm
  notice?: HtmlPart
  errors?: FormErrors | undefined
  /** The change that a commit would make; `seen` identifies it. */
  preview?: (SettingsPreview & { seen: string }) | undefined
}

const kinds = candidateKinds.map((kind): SettingName => `zones.kinds.${kind}`)
const parts: readonly [legend: string, ...SettingName[]][] = [
  ['About', 'title', 'language', 'tone'],
  [
    'Approval without a curator',
    ...(['policy.threshold', 'policy.singleCurator', 'policy.singleCuratorThreshold'] as const),
    ...(['policy.autoApproveConnectors', 'tests.onBreak'] as const),
  ],
  ['Zones', 'zones.connectors'],
  [
    'Who decides',
    ...(['owners', 'approvals.yellow', 'approvals.red', 'approvals.keepOnMerge'] as const),
    ...(['authorMayApprove', 'verify'] as const),
  ],
  ['Who sees what', 'defaultAudience', 'inlineTags', 'publish.keys'],
  [
    'The rest',
    ...(['lint.schedule', 'protectMain', 'rename.rewriteLinks', 'sources.types', 'sources.ocr'] as const),
    ...(['search.engine', 'search.synonyms', 'search.pins', 'questions.keepDays'] as const),
  ],
]

const Query = z.object({
  commit: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/)
    .optional()
    .catch(undefined),
  /** Line that is appended to a setting in the form, to be checked and completed. */
  pins: z.string().max(400).optional().catch(undefined),
  synonyms: z.string().max(400).optional().catch(undefined),
})
/** Value of a control. A box that is not ticked is not sent. */
const Value = z.string().max(20_000).default('')
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

export const kbSettingsRoutes = consolePages({ people: 'admin' }, (pages, ctx) => {
  pages.get('/kb/:kb/settings', { params: KbParams, query: Query }, async ({ visit, caller, params, query }) => {
    const shown = await readKbSettings(ctx, caller, params.kb)
    const { commit, ...lines } = query
    for (const name of ['pins', 'synonyms'] as const) {
      const line = lines[name]
      if (line !== undefined) shown.values[`search.${name}`] = `${shown.values[`search.${name}`]}\n${line}`.trim()
    }
    const notice = commit && html`The settings are changed: commit <code>${commit.slice(0, 12)}</code>.`
    return kbSettingsPage(visit, { shown, notice })
  })

  pages.post('/kb/:kb/settings', { params: KbParams, body: Sent }, async ({ visit, caller, params: { kb }, body }) => {
    const { base, values, seen, do: action } = body
    const now = await readKbSettings(ctx, caller, kb)
    const again = (view: Partial<KbSettingsView>, status: number) => ({
      page: kbSettingsPage(visit, { shown: { ...now, base, values }, ...view }),
      status,
    })
    try {
      const change = { base, values }
      const preview = await previewKbSettings(ctx, caller, kb, change)
      const known = createHash('sha256').update(preview.diff).digest('hex')
      // Commits only what the preview showed.
      if (action === 'preview' || seen !== known) return again({ preview: { ...preview, seen: known } }, 200)
      const commit = await changeKbSettings(ctx, caller, kb, change)
      return { to: `${kbPage(now.slug)}/settings${commit === undefined ? '' : `?commit=${commit}`}` }
    } catch (error) {
      if (error instanceof SettingsChanged) return again(overtaken(now, values, error), 409)
      if (error instanceof ValidationError) return again({ errors: error }, 400)
      if (!(error instanceof GanglionError) || error.code !== 'approval_needed') throw error
      const problem = `Nothing is changed. ${error.message} Ask one of them to make this change.`
      return again({ errors: { formErrors: [problem] } }, 409)
    }
  })
})

/** Returns the form after somebody else changed the settings: their values, except for those typed here. */
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

function kbSettingsPage(visit: Visit, view: KbSettingsView): Html {
  const { slug, title, problems } = view.shown
  const isUnreadable = problems.some(({ severity }) => severity === 'error')
  return page(visit, {
    title: `Settings of ${title}`,
    kb: { slug, title },
    notice: view.notice,
    main: html`<h1>Settings</h1>
      <p>They stand in <code>kb.yaml</code> on main. A change is a commit under your name; comments in the file stay.
        <a href="${kbLifePath(slug)}">Rename, disable or delete it</a></p>
      ${problems.length > 0 && html`<div class="warning"><p>${isUnreadable ? html`<code>kb.yaml</code> is not as it should be:` : html`What to know about <code>kb.yaml</code>:`}</p><ul>${problems.map(({ path, message }) => html`<li><code>${path}</code> ${message}</li>`)}</ul></div>`}
      ${isUnreadable ? html`<p>Correct the file and push it; until then this form cannot change it.</p>` : settingsForm(visit, view)}`,
  })
}

function settingsForm(visit: Visit, { shown: { slug, base, values }, errors, preview }: KbSettingsView): Html {
  const { text, area, check, select } = controlsOf(values, errors)
  const control = (name: SettingName) => {
    const { label, control } = formSettings[name]
    const hint = settingHints[name]
    const details = hint === undefined ? {} : { hint }
    if (control === 'text') return text(name, label, { ...details, autocomplete: 'off' })
    if (control === 'lines') return area(name, label, { ...details, class: 'short', rows: 3 })
    return control === 'flag' ? check(name, label, details) : select(name, label, control, details)
  }
  const zones = html`<p class="hint">The strictest zone wins.</p>
    <div class="columns">${kinds.map(control)}</div>`
  return form(visit, { action: `${kbPage(slug)}/settings`, errors }, [
    hidden({ base }),
    preview && previewSection(preview),
    parts.map(
      ([legend, ...names]) =>
        html`<fieldset class="part"><legend>${legend}</legend>${legend === 'Zones' && zones}${names.map(control)}</fieldset>`,
    ),
    html`<p>${button('Show what changes', { name: 'do', value: 'preview', ...(preview && { class: 'second' }) })}</p>`,
  ])
}

function previewSection({ changed, diff, seen }: SettingsPreview & { seen: string }): Html {
  if (changed.length === 0) return html`<p class="warning" role="status">Nothing changes.</p>`
  return html`<section class="card preview" aria-labelledby="preview">
    <h2 id="preview" tabindex="-1" autofocus>What the commit changes</h2>
    <pre tabindex="0" class="patch">${diffLines(diff)}</pre>
    ${hidden({ seen })}
    ${button('Commit this change', { name: 'do', value: 'commit' })}
  </section>`
}

function diffLines(diff: string): Html[] {
  const lines = diff.split('\n').filter((line) => !/^(?:---|\+\+\+|Index|===|\\)/.test(line))
  return lines.map((line) => {
    if (line.startsWith('+')) return html`<ins>${line}</ins>\n`
    return line.startsWith('-') ? html`<del>${line}</del>\n` : html`${line}\n`
  })
}
