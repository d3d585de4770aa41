//! Groups and permissions of accounts in memory.

use super::{Tables, Transaction, insert_once, page_of, violation};
use async_trait::async_trait;
use docent_domain::collection::Member;
use docent_domain::fault::Result;
use docent_domain::group::{AssignedPermissions, Group, GroupName};
use docent_domain::id::{GroupId, UserId};
use docent_domain::listing::{Page, PageRequest};
use docent_domain::permission::PermissionSet;
use docent_ports::groups::{GroupReader, GroupWriter};
use std::collections::{HashMap, HashSet};

#[async_trait]
impl GroupReader for Transaction {
    async fn get(&mut self, id: GroupId) -> Result<Option<Group>> {
        Ok(self.read()?.groups.get(&id).cloned())
    }

    async fn by_name(&mut self, name: &GroupName) -> Result<Option<Group>> {
        Ok(holder(self.read()?, name).cloned())
    }

    async fn list(&mut self, text: Option<&str>, page: PageRequest) -> Result<Page<(Group, u64)>> {
        let tables = self.read()?;
        let fits = |group: &&Group| {
            let name = group.name.as_str().to_ascii_lowercase();
            text.is_none_or(|text| name.contains(&text.to_ascii_lowercase()))
        };
        let mut groups: Vec<&Group> = tables.groups.values().filter(fits).collect();
        groups.sort_by_key(|group| group.name.key());
        let members = |id| tables.rights.values().filter(|rights| rights.groups.contains(&id)).count() as u64;
        Ok(page_of(groups.into_iter().map(|group| (group.clone(), members(group.id))).collect(), page))
    }

    async fn names(&mut self, ids: &[GroupId]) -> Result<HashMap<GroupId, String>> {
        let groups = &self.read()?.groups;
        Ok(ids.iter().filter_map(|id| Some((*id, groups.get(id)?.name.as_str().to_owned()))).collect())
    }

    async fn managers(&mut self, id: GroupId) -> Result<HashSet<UserId>> {
        let rights = self.read()?.rights.iter().filter(|(_, rights)| rights.managed.contains(&id));
        Ok(rights.map(|(user, _)| *user).collect())
    }

    async fn assigned_permissions(&mut self, user: UserId) -> Result<AssignedPermissions> {
        Ok(self.read()?.rights.get(&user).cloned().unwrap_or_default())
    }

    async fn permissions(&mut self, user: UserId) -> Result<PermissionSet> {
        let tables = self.read()?;
        let rights = tables.rights.get(&user).cloned().unwrap_or_default();
        let by_group = rights.groups.iter().filter_map(|group| tables.groups.get(group));
        Ok(by_group.fold(rights.permissions, |all, group| all.union(group.permissions)))
    }
}

#[async_trait]
impl GroupWriter for Transaction {
    async fn insert(&mut self, group: &Group) -> Result<bool> {
        self.write(|tables| {
            if holder(tables, &group.name).is_some() {
                return Ok(false);
            }
            insert_once(&mut tables.groups, group.id, group)?;
            Ok(true)
        })
    }

    async fn update(&mut self, group: &Group) -> Result<bool> {
        self.write(|tables| {
            if !tables.groups.contains_key(&group.id) {
                return Ok(false);
            }
            if holder(tables, &group.name).is_some_and(|other| other.id != group.id) {
                return Err(violation("the name is another group's"));
            }
            tables.groups.insert(group.id, group.clone());
            Ok(true)
        })
    }

    async fn delete(&mut self, id: GroupId) -> Result<bool> {
        self.write(|tables| {
            for rights in tables.rights.values_mut() {
                rights.groups.remove(&id);
                rights.managed.remove(&id);
            }
            tables.members.retain(|(_, member), _| *member != Member::Group(id));
            Ok(tables.groups.remove(&id).is_some())
        })
    }

    async fn set_assigned_permissions(&mut self, user: UserId, rights: &AssignedPermissions) -> Result<()> {
        self.write(|tables| {
            let is_known = tables.users.contains_key(&user)
                && rights.groups.iter().all(|group| tables.groups.contains_key(group));
            if !is_known && *rights != AssignedPermissions::default() {
                return Err(violation("the account or a group does not exist"));
            }
            let managed = rights.managed.intersection(&rights.groups).copied().collect();
            tables.rights.insert(user, AssignedPermissions { managed, ..rights.clone() });
            Ok(())
        })
    }
}

fn holder<'t>(tables: &'t Tables, name: &GroupName) -> Option<&'t Group> {
    tables.groups.values().find(|group| group.name.key() == name.key())
}
