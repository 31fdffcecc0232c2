import { z } from 'zod'
import { kbPage } from '../../contract/console-paths.ts'
import { ValidationError } from '../../contract/errors.ts'
import { changeKb, deleteKb, findAnyKb } from '../../operate/life-cycle.ts'
import { button, controlsOf, form, postButton, refusedForm } from '../layout/form.ts'
import { type Html, html, when } from '../layout/html-template.ts'
import { page } from '../layout/page.ts'
import { type ConsoleRequest, consolePages, type FormView, KbParams } from '../layout/page-routes.ts'

type OfKb = Pick<ConsoleRequest<z.output<typeof KbParams>>, 'visit' | 'caller' | 'params'>

const notices = {
  rename: 'It is renamed.',
  disable: 'It is disabled.',
  enable: 'It is served again.',
}
const typed = z.string().trim().max(200).default('')

export function kbLifePath(slug: string): string {
  return `/settings/knowledge-bases/${slug}`
}

export const kbLifeRoutes = consolePages({ people: 'admin' }, (pages, ctx) => {
  const path = kbLifePath(':kb')
  const schemas = { params: KbParams }
  const find = ({ caller, params }: OfKb) => findAnyKb(ctx, caller.tenantId, params.kb)

  pages.get(path, { ...schemas, notices }, (sent) => kbLife(sent, { notice: sent.notice }))

  pages.form(`${path}/rename`, {
    ...{ ...schemas, body: z.object({ slug: typed }) },
    async act(sent) {
      const { slug } = sent.body
      await changeKb(ctx, sent.caller, await find(sent), { slug })
      return { to: `${kbLifePath(slug)}?done=rename` }
    },
    explain(error) {
      const refusal = refusedForm(error)
      if (refusal.status === 404) throw error
      return refusal
    },
    refused: (sent, { errors }) => kbLife(sent, { typed: sent.body, errors }),
  })

  for (const change of ['disable', 'enable'] as const) {
    pages.post(`${path}/${change}`, schemas, async (sent) => {
      const kb = await find(sent)
      await changeKb(ctx, sent.caller, kb, { isDisabled: change === 'disable' })
      return { to: `${kbLifePath(kb.slug)}?done=${change}` }
    })
  }

  pages.post(`${path}/delete`, { ...schemas, body: z.object({ confirm: typed }) }, async (sent) => {
    const kb = await find(sent)
    if (sent.body.confirm !== kb.slug) {
      const errors = new ValidationError({ confirm: [`must be ${kb.slug}`] })
      return { page: await kbLife(sent, { typed: sent.body, errors }), status: 400 }
    }
    return { to: `/settings?exported=${await deleteKb(ctx, sent.caller, kb)}` }
  })

  async function kbLife(
    sent: OfKb,
    { notice, typed = {}, errors }: FormView<{ slug?: string; confirm?: string }>,
  ): Promise<Html> {
    const { slug, disabledAt, formerSlugs } = await find(sent)
    const path = kbLifePath(slug)
    const { text } = controlsOf({ slug, ...typed }, errors)
    const attributes = { autocomplete: 'off', required: true }
    const main = html`<p class="crumbs"><a href="/settings">Settings</a></p>
      <h1>Knowledge base ${slug}</h1>
      ${disabledAt === null ? html`<p><a href="${kbPage(slug)}">It is served.</a></p>` : html`<p class="warning">Disabled ${when(disabledAt)}: it is at no address, for nobody.</p>`}
      <h2>Rename</h2>
      ${form(sent.visit, { action: `${path}/rename`, errors: typed.slug === undefined ? undefined : errors }, [
        text('slug', 'Name in addresses', {
          hint: html`Earlier names lead here, too${formerSlugs.length > 0 && `: ${formerSlugs.join(', ')}`}. The numbers of its pages stay. Its title is in its settings.`,
          ...attributes,
        }),
        button('Rename'),
      ])}
      <h2>${disabledAt === null ? 'Disable' : 'Serve it again'}</h2>
      ${
        disabledAt === null
          ? html`<p>Nobody can read or change it any more; nothing is lost, and it can be enabled again.</p>
            ${postButton(sent.visit, `${path}/disable`, 'Disable', { class: 'danger' })}`
          : postButton(sent.visit, `${path}/enable`, 'Serve it again', {})
      }
      <h2>Delete</h2>
      ${
        disabledAt === null
          ? html`<p>Disable it first.</p>`
          : html`<p>It is first exported as a separate backup to <code>exports</code> of the server’s data directory, which
              <code>ganglion restore</code> takes. Then its pages, histories, Sources and candidates are removed. This cannot be undone here.</p>
            ${form(sent.visit, { action: `${path}/delete`, errors: typed.confirm === undefined ? undefined : errors }, [
              text('confirm', `Type ${slug} to delete it`, attributes),
              button('Export and delete', { class: 'danger' }),
            ])}`
      }`
    return page(sent.visit, { title: `Knowledge base ${slug}`, main, notice })
  }
})
