import { kbPage } from '../../contract/console-paths.ts'
import type { KbRecord } from '../../state/kb-store.ts'
import { button, type FormErrors, field, form } from '../layout/form.ts'
import { type Html, type HtmlPart, html } from '../layout/html-template.ts'
import { page, type Visit } from '../layout/page.ts'
import { when } from '../layout/wording.ts'

export type KbLifeView = {
  kb: KbRecord
  notice?: HtmlPart
  typed?: { slug?: string; confirm?: string }
  errors?: FormErrors
}

export function kbLifePath(slug: string): string {
  return `/settings/knowledge-bases/${slug}`
}

export function kbLifePage(visit: Visit, { kb, notice, typed = {}, errors }: KbLifeView): Html {
  const { slug, disabledAt, formerSlugs } = kb
  const path = kbLifePath(slug)
  const attributes = { autocomplete: 'off', required: true }
  const main = html`<p class="crumbs"><a href="/settings">Settings</a></p>
    <h1>Knowledge base ${slug}</h1>
    ${disabledAt === null ? html`<p><a href="${kbPage(slug)}">It is served.</a></p>` : html`<p class="warning">Disabled ${when(disabledAt)}: it is at no address, for nobody.</p>`}
    <h2>Rename</h2>
    ${form(
      visit,
      { action: `${path}/rename`, errors: typed.slug === undefined ? undefined : errors },
      html`${field({
        ...{ name: 'slug', label: 'Name in addresses', value: typed.slug ?? slug, errors, attributes },
        hint: html`Earlier names lead here, too${formerSlugs.length > 0 && `: ${formerSlugs.join(', ')}`}. The numbers of its pages stay. Its title is in its settings.`,
      })}${button('Rename')}`,
    )}
    <h2>${disabledAt === null ? 'Disable' : 'Serve it again'}</h2>
    ${
      disabledAt === null
        ? html`<p>Nobody reads or writes it any more, by any way; nothing is lost, and it can be served again.</p>
          ${form(visit, { action: `${path}/disable` }, button('Disable', { class: 'danger' }))}`
        : form(visit, { action: `${path}/enable` }, button('Serve it again'))
    }
    <h2>Delete</h2>
    ${
      disabledAt === null
        ? html`<p>Disable it first.</p>`
        : html`<p>It is exported first, as a backup of its own in <code>exports</code> of the server’s data directory, which
            <code>ganglion restore</code> takes. Then its pages, histories, Sources and candidates are removed. This cannot be undone here.</p>
          ${form(
            visit,
            { action: `${path}/delete`, errors: typed.confirm === undefined ? undefined : errors },
            html`${field({ name: 'confirm', label: `Type ${slug} to delete it`, value: typed.confirm, errors, attributes })}
              ${button('Export and delete', { class: 'danger' })}`,
          )}`
    }`
  return page(visit, { title: `Knowledge base ${slug}`, main, notice })
}
