import { kbPage } from '../../contract/console-paths.ts'
import { candidateKinds } from '../../contract/vocabulary.ts'
import type { KbSettingsForm, SettingsPreview } from '../../operate/settings/change-kb-settings.ts'
import type { SettingName, SettingValues } from '../../operate/settings/setting-values.ts'
import { button, checkbox, type FormErrors, field, form, selectField, textArea } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { kbLifePath } from './kb-life-page.ts'

export type KbSettingsView = {
  /** As `kb.yaml` has them now; `values` as they were typed. */
  shown: KbSettingsForm
  notice?: HtmlPart
  errors?: FormErrors | undefined
  /** What a commit would change, and what it is known by. */
  preview?: (SettingsPreview & { seen: string }) | undefined
}

const zones = [
  { value: '', label: 'none' },
  { value: 'green', label: 'green: approved at once' },
  { value: 'yellow', label: 'yellow: waits for a curator' },
  { value: 'red', label: 'red: waits, with a warning' },
]
const onBreak = [
  { value: 'yellow', label: 'yellow: waits for a curator' },
  { value: 'red', label: 'red: waits, with a warning' },
  { value: 'allow', label: 'allow: is approved' },
]
const engines = [
  { value: 'auto', label: 'auto: by size' },
  { value: 'minisearch', label: 'minisearch: in memory' },
  { value: 'segments', label: 'segments: on disk' },
]

export function kbSettingsPage(visit: Visit, { shown, notice, errors, preview }: KbSettingsView): Html {
  const { slug, title, problems } = shown
  const isUnreadable = problems.some(({ severity }) => severity === 'error')
  return page(visit, {
    title: `Settings of ${title}`,
    kb: { slug, title },
    notice,
    main: html`<h1>Settings</h1>
      <p>They stand in <code>kb.yaml</code> on main. A change is a commit under your name; comments in the file stay.
        <a href="${kbLifePath(slug)}">Rename, disable or delete it</a></p>
      ${problems.length > 0 && html`<div class="warning"><p>${isUnreadable ? html`<code>kb.yaml</code> is not as it should be:` : html`What to know about <code>kb.yaml</code>:`}</p><ul>${problems.map(({ path, message }) => html`<li><code>${path}</code> ${message}</li>`)}</ul></div>`}
      ${isUnreadable ? html`<p>Mend the file and push it; until then this form cannot change it.</p>` : settingsForm(visit, shown, errors, preview)}`,
  })
}

function settingsForm(
  visit: Visit,
  { slug, base, values }: KbSettingsForm,
  errors: FormErrors | undefined,
  preview: KbSettingsView['preview'],
): Html {
  const parts = partsOf(values, errors)
  return form(visit, { action: `${kbPage(slug)}/settings`, errors }, [
    html`<input type="hidden" name="base" value="${base}">`,
    preview && previewSection(preview),
    parts.about(),
    parts.approval(),
    parts.zones(),
    parts.deciding(),
    parts.visibility(),
    parts.rest(),
    html`<p>${button('Show what changes', { name: 'do', value: 'preview', ...(preview && { class: 'second' }) })}</p>`,
  ])
}

function previewSection({ changed, diff, seen }: SettingsPreview & { seen: string }): Html {
  if (changed.length === 0) return html`<p class="warning" role="status">Nothing changes.</p>`
  return html`<section class="card preview" aria-labelledby="preview">
    <h2 id="preview" tabindex="-1" autofocus>What the commit changes</h2>
    <pre tabindex="0" class="patch">${diffLines(diff)}</pre>
    <input type="hidden" name="seen" value="${seen}">
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

/** The fields, part by part, as in the file. */
function partsOf(values: SettingValues, errors: FormErrors | undefined) {
  const text = (name: SettingName, label: string, hint?: string) =>
    field({ name, label, hint, value: values[name], errors, attributes: { autocomplete: 'off' } })
  const lines = (name: SettingName, label: string, hint: string) =>
    textArea({ name, label, hint, value: values[name], errors, attributes: { class: 'short', rows: 3 } })
  const flag = (name: SettingName, label: string, hint?: string) =>
    checkbox({ name, label, hint, isChecked: values[name] === 'true', errors })
  const part = (legend: string, ...fields: HtmlPart[]) =>
    html`<fieldset class="part"><legend>${legend}</legend>${fields}</fieldset>`
  return {
    about: () =>
      part(
        'About',
        text('title', 'Title'),
        text('language', 'Language', 'Such as en or pt-BR. It decides how words are compared.'),
        lines('tone', 'Tone', 'How answers in the chat should sound.'),
      ),
    approval: () =>
      part(
        'Approval without a curator',
        text(
          'policy.threshold',
          'Threshold',
          'A candidate whose confidence is at or above this, from 0 to 1, is approved.',
        ),
        flag('policy.singleCurator', 'There is one curator only'),
        text('policy.singleCuratorThreshold', 'Threshold with one curator'),
        text(
          'policy.autoApproveConnectors',
          'Connectors that are approved',
          'With commas between. Only keys that may speak as them count.',
        ),
        selectField({
          name: 'tests.onBreak',
          label: 'What breaks an answer test',
          value: values['tests.onBreak'],
          choices: onBreak,
          errors,
        }),
      ),
    zones: () =>
      part(
        'Zones',
        html`<p class="hint">The strictest zone wins.</p>
        <div class="columns">${candidateKinds.map((kind) => selectField({ name: `zones.kinds.${kind}`, label: kind, value: values[`zones.kinds.${kind}`], choices: zones, errors }))}</div>`,
        lines('zones.connectors', 'Zones of connectors', 'One on each line, such as “site-chat: yellow”.'),
      ),
    deciding: () =>
      part(
        'Who decides',
        lines(
          'owners',
          'Owners',
          'On each line paths and tags, and those of whom one must approve: “legal, #contracts = legal@example.com, Legal desk”.',
        ),
        text('approvals.yellow', 'Approvals that the yellow zone needs', 'What has no zone needs one.'),
        text('approvals.red', 'Approvals that the red zone needs', 'At least as many as the yellow zone.'),
        flag(
          'approvals.keepOnMerge',
          'Approvals stay when others change other lines of the page',
          'Else an approval falls when the page, or who sees it, would be other than what was approved.',
        ),
        flag(
          'authorMayApprove',
          'Who wrote a candidate may approve it',
          'If not, only the connectors named above, and green ones, are approved without a curator, whatever the confidence or kind.',
        ),
        lines(
          'verify',
          'Pages to look at again',
          'On each line paths and tags, and after how many days: “handbook, #prices = 180”.',
        ),
      ),
    visibility: () =>
      part(
        'Who sees what',
        text(
          'defaultAudience',
          'Default audience',
          'Of pages that list none: tool, public, student, with commas between. Empty: curators only.',
        ),
        flag('inlineTags', 'Tags in the text count', '#internal in a text then hides the page from all but curators.'),
        text(
          'publish.keys',
          'Front matter that readers see',
          'Keys of your own, with commas between, such as “status, aliases”. Readers, their clones and public mirrors get no others.',
        ),
      ),
    rest: () =>
      part(
        'The rest',
        text('lint.schedule', 'Look for broken links', 'As in a crontab, in UTC, such as “0 4 * * *”. Empty: never.'),
        flag('protectMain', 'Main takes no push', 'Every change by git is then proposed.'),
        flag('rename.rewriteLinks', 'Rewrite links when a page is renamed', 'Else its old name stays as an alias.'),
        text('sources.types', 'Further file types for Sources', 'With commas between, such as “eml, tsv”; or all.'),
        text(
          'sources.ocr',
          'Languages of pictures and scans',
          'Up to five of Tesseract’s codes, with commas between, such as “deu, fra, eng”. Each but eng is a package on the server. Empty: English.',
        ),
        selectField({
          name: 'search.engine',
          label: 'Search engine',
          value: values['search.engine'],
          choices: engines,
          errors,
        }),
        lines('search.synonyms', 'Synonyms', 'A group on each line, such as “vpn = virtual private network”.'),
        lines('search.pins', 'Pinned pages', 'What comes first for a query, such as “vpn = handbook_00000042”.'),
        text('questions.keepDays', 'Days for which questions are counted', 'Without who asked. 0: never.'),
      ),
  }
}
