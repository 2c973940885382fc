import { describeContent } from '../scenarios/content-cases.ts';
import { databaseUrl } from '../support/database-url.ts';

describeContent('postgres', () => databaseUrl());
