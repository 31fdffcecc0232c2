import type { Rendered } from '../../../pages/render-page.ts'
import type { PageFinding } from '../../../pages/write/check-page.ts'
import { errorItems, type FormErrors } from '../../layout/form.ts'
import { content, type Html, html } from '../../layout/html-template.ts'

/** Preview and findings of a text, shown next to it. */
export type Beside = {
  rendered: Rendered
  findings: readonly PageFinding[]
  errors: FormErrors
  /** True if the page has changed since the edit began. */
  isBehind: boolean
}

export function beside({ rendered, findings, errors, isBehind }: Beside): Html {
  return html`${isBehind && html`<p class="warning">Somebody has changed this page since you began. What you write is merged with it.</p>`}
    ${findingList(findings, errors)}
    <h2>Preview</h2>
    ${rendered.isPlain && html`<p class="hint">The text is too complex to be shown as it will look.</p>`}
    ${content(rendered)}`
}

function findingList(findings: readonly PageFinding[], errors: FormErrors): Html {
  const items = errorItems(errors)
  const count = findings.length + items.length
  if (count === 0) return html`<h2>Findings</h2><p class="empty">Nothing is wrong with the page.</p>`
  return html`<h2>Findings (${count})</h2>
    <ul class="findings">
      ${items}
      ${findings.map(finding)}
    </ul>`
}

function finding({ severity, message, line }: PageFinding): Html {
  const badge =
    severity === 'error' ? html`<span class="badge bad">Error</span>` : html`<span class="badge warn">Warning</span>`
  const text =
    line === undefined
      ? message
      : html`<a href="#field-content" data-line="${line}" data-severity="${severity}" data-message="${message}">Line ${line}</a>: ${message}`
  return html`<li>${badge} <span dir="auto">${text}</span></li>`
}
