import type { Access } from '../rules/access/audience.ts'
import type { KbSettings } from '../rules/kb-settings.ts'
import { joinTags } from '../rules/neurons/tag.ts'
import type { NeuronFile } from './file/neuron-file.ts'
import { inlineTags } from './inline-tags.ts'
import { shownContent } from './shown-content.ts'

type Page = Pick<NeuronFile, 'fields' | 'extra' | 'content'>

/** Returns all tags of a page: those of its front matter, and those of its text if the settings count them. */
export function allTags(page: Page, { inlineTags: isCounted }: Pick<KbSettings, 'inlineTags'>): string[] {
  const found = isCounted ? inlineTags(shownContent(page)).map(({ tag }) => tag) : []
  return joinTags(page.fields.tags, found)
}

/** Returns the audience and tags of a page, which decide who may see it. */
export function accessIn(page: Page, settings: Pick<KbSettings, 'inlineTags'>): Access {
  return { audience: page.fields.audience, tags: allTags(page, settings) }
}
