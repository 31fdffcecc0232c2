import type { NeuronFile } from '../../markdown/file/neuron-file.ts'
import { inlineTags } from '../../markdown/inline-tags.ts'
import { shownContent } from '../../markdown/shown-content.ts'
import type { Access } from '../../rules/access/audience.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'
import { joinTags } from '../../rules/neurons/tag.ts'

type Page = Pick<NeuronFile, 'fields' | 'extra' | 'content'>

/** All tags of a page: those of its front matter, and where the settings count them, those of its text. */
export function allTags(page: Page, { inlineTags: isCounted }: Pick<KbSettings, 'inlineTags'>): string[] {
  const found = isCounted ? inlineTags(shownContent(page)).map(({ tag }) => tag) : []
  return joinTags(page.fields.tags, found)
}

/** The audience and tags of a page, which decide who may see it. */
export function accessIn(page: Page, settings: Pick<KbSettings, 'inlineTags'>): Access {
  return { audience: page.fields.audience, tags: allTags(page, settings) }
}
