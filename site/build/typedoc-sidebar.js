import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Converter } from 'typedoc';

/** Names the main entry, and writes the navigation of the API reference, for the sidebar. */
export function load(app) {
  // Named as it is imported, not after its file.
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const main = project.children.find(({ name }) => name === 'index');
    main.name = 'nestjs-delay-queue';
  });
  app.renderer.postRenderAsyncJobs.push(({ navigation, outputDirectory }) => {
    const items = (navigation ?? []).map(itemOf);
    writeFileSync(join(outputDirectory, 'typedoc-sidebar.json'), JSON.stringify(items));
    return Promise.resolve();
  });
}

const itemOf = ({ title, path, children }) => ({
  text: title,
  ...(path && { link: `api/${path}` }),
  ...(children && { collapsed: true, items: children.map(itemOf) }),
});
